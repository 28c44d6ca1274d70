import type { PingPlaces } from '../../core/contract/operation-result.ts'
import { pingBody } from '../../core/conversation/prefix/ping-places.ts'
import { costOf, type TokenPrices } from '../../core/conversation/usage/billing.ts'
import { mayPing, PING_AFTER_MS, SHORT_LIFE_MS } from '../../core/conversation/usage/life-rules.ts'
import { promptTokens, type TokenUsage } from '../../core/conversation/usage/token-usage.ts'

/** A request that was answered in full, and may be sent again to keep its cache alive. */
export interface PingedRequest {
  readonly tenant: string
  readonly key: string
  /** Names its conversation among those of the tenant. */
  readonly conversation: string
  /** As it was sent. */
  readonly body: Uint8Array
  readonly places: PingPlaces
  readonly usage: TokenUsage
  readonly prices: TokenPrices
  /** When it was sent, which the life of its cache counts from, in Unix milliseconds. */
  readonly sentAt: number
  /** Sends a body, with the headers of the request. Never rejects. */
  send(body: Uint8Array): Promise<PingAnswer | null>
  /** Whether no other process has gone on with the conversation. */
  isLast(): Promise<boolean>
}

export interface PingAnswer {
  readonly status: number
  /** `null` if the answer reports none. */
  readonly usage: TokenUsage | null
}

export interface CachePings {
  /** Ends pings of a conversation that continues. Returns how many its pause had. */
  goOn(tenant: string, conversation: string): number
  /** Plans pings after an answer. */
  plan(request: PingedRequest): void
}

export interface PingOptions {
  /** Unix milliseconds. */
  now(): number
  /** Calls once after so many milliseconds; what it returns ends that. */
  after(ms: number, run: () => void): () => void
  /** Whether the service takes no more work. */
  isEnding(): boolean
}

/** Bodies that are held, in all of a process. */
const MAX_BYTES = 64 * 1024 * 1024
/** What is remembered of conversations, tenants and keys, each. */
const MAX_KNOWN = 10_000
/** What pings of a tenant may cost in a day, of its input. */
const DAILY_SHARE = 0.03
/** A ping that wrote more of its prompt found no cache. */
const MOST_WRITTEN = 0.1
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MOST_FAILURES = 3
/** Timers may be early by a little. */
const EARLY_MS = 1_000
const TOO_MANY = 429

interface Spent {
  readonly day: number
  spent: number
  pinged: number
}

/** A conversation in its pause. */
interface Plan extends PingedRequest {
  sent: number
  cancel(): void
}

/** Keeps caches alive in pauses, within budgets. Holds bodies and credentials in memory only. */
export function createCachePings({ now, after, isEnding }: PingOptions): CachePings {
  const plans = new Map<string, Plan>()
  const ofConversations = new Map<string, Spent>()
  const ofTenants = new Map<string, Spent>()
  /** Until when a key has no pings, and its failures of a day. */
  const off = new Map<string, { until: number; day: number; failures: number }>()
  /** Pings of conversations since their last requests. */
  const counts = new Map<string, number>()
  let held = 0

  const dayOf = (time: number) => Math.floor(time / DAY_MS)

  function spentOf(all: Map<string, Spent>, name: string, day: number): Spent {
    const known = all.get(name)
    const spent = known?.day === day ? known : { day, spent: 0, pinged: 0 }
    remember(all, name, spent)
    return spent
  }

  function accountsOf({ tenant, conversation }: PingedRequest): readonly [Spent, Spent] {
    const own = spentOf(ofConversations, nameOf(tenant, conversation), 0)
    return [own, spentOf(ofTenants, tenant, dayOf(now()))]
  }

  function end(name: string) {
    const plan = plans.get(name)
    if (plan === undefined) return
    plan.cancel()
    plans.delete(name)
    held -= plan.body.length
  }

  function isOff({ tenant, key }: PingedRequest): boolean {
    return (off.get(nameOf(tenant, key))?.until ?? 0) > now()
  }

  /** Ends pings of the conversation, and those of the key if that happens too often. */
  function fail({ tenant, key }: PingedRequest, status: number | undefined) {
    const name = nameOf(tenant, key)
    const day = dayOf(now())
    const known = off.get(name)
    const failures = (known?.day === day ? known.failures : 0) + 1
    const forDay = failures >= MOST_FAILURES ? (day + 1) * DAY_MS : 0
    const forHour = status === TOO_MANY ? now() + HOUR_MS : 0
    remember(off, name, { until: Math.max(forDay, forHour, known?.until ?? 0), day, failures })
  }

  /** Whether a ping comes in time, and within all budgets. */
  function mayStill(plan: Plan): boolean {
    const { usage, prices, places, sent, sentAt } = plan
    const idle = now() - sentAt
    // A clock that jumped, or a machine that slept: nothing is known of the cache.
    const last = sent * PING_AFTER_MS
    const isInTime = idle >= last + PING_AFTER_MS - EARLY_MS && idle < last + SHORT_LIFE_MS
    const [own, tenants] = accountsOf(plan)
    const prompt = promptTokens(usage)
    const isWithin = mayPing({ prompt, ...own }, prices.cache_read, places.budget)
    const most = DAILY_SHARE * tenants.spent
    return (
      isInTime && isWithin && tenants.pinged + prices.cache_read * prompt <= most && !isOff(plan)
    )
  }

  async function ping(name: string, plan: Plan) {
    const isCurrent = () => plans.get(name) === plan && !isEnding()
    if (!isCurrent() || !mayStill(plan) || !(await plan.isLast()) || !isCurrent()) {
      if (plans.get(name) === plan) end(name)
      return
    }
    const answer = await plan.send(pingBody(plan.body, plan.places))
    const usage = answer?.usage ?? null
    if (usage !== null) {
      const cost = costOf(usage, plan.prices)
      for (const each of accountsOf(plan)) each.pinged += cost
    }
    const written = usage === null ? 0 : usage.cache_write + usage.cache_write_long + usage.uncached
    const isKept = usage !== null && written <= MOST_WRITTEN * promptTokens(usage)
    if (isKept) plan.sent += 1
    else fail(plan, answer?.status)
    if (plans.get(name) !== plan) return
    remember(counts, name, plan.sent)
    if (isKept && plan.sent < plan.places.most) schedule(name, plan)
    else end(name)
  }

  function schedule(name: string, plan: Plan) {
    const ms = plan.sentAt + (plan.sent + 1) * PING_AFTER_MS - now()
    plan.cancel = after(Math.max(0, ms), () => void ping(name, plan))
  }

  return {
    goOn(tenant, conversation) {
      const name = nameOf(tenant, conversation)
      const count = counts.get(name) ?? 0
      counts.delete(name)
      end(name)
      return count
    },
    plan(request) {
      const name = nameOf(request.tenant, request.conversation)
      end(name)
      const cost = costOf({ ...request.usage, output: 0 }, request.prices)
      for (const each of accountsOf(request)) each.spent += cost
      const { length } = request.body
      if (held + length > MAX_BYTES || isOff(request) || isEnding()) return
      const plan = { ...request, sent: 0, cancel: () => {} }
      held += length
      plans.set(name, plan)
      schedule(name, plan)
    },
  }
}

function nameOf(tenant: string, name: string): string {
  return JSON.stringify([tenant, name])
}

/** The oldest ones are forgotten. */
function remember<Value>(all: Map<string, Value>, name: string, value: Value) {
  all.delete(name)
  all.set(name, value)
  for (const oldest of all.keys()) {
    if (all.size <= MAX_KNOWN) return
    all.delete(oldest)
  }
}

/** A timer that does not keep the process from ending. */
export function unheldTimer(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms)
  timer.unref()
  return () => clearTimeout(timer)
}
