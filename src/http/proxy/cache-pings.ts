import { BoundedMap } from '../../core/base/bounded-map.ts'
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
  /** What pings cost; of a conversation, less what they spared it. */
  pinged: number
  /** Tokens that they kept in a pause that has ended. */
  kept: number
}

/** Pings of a pause. */
interface Pinged {
  readonly count: number
  /** When the last request before it was sent, and its tokens. */
  readonly sentAt: number
  readonly prompt: number
}

/** Until when a key has no pings, and its failures of a day. */
interface Off {
  readonly until: number
  readonly day: number
  readonly failures: number
}

/** A conversation in its pause. */
interface Plan extends PingedRequest {
  sent: number
  cancel(): void
}

/** Keeps caches alive in pauses, within budgets. Holds bodies and credentials in memory only. */
export class CachePings {
  readonly #options: PingOptions
  readonly #plans = new Map<string, Plan>()
  readonly #ofConversations = new BoundedMap<string, Spent>(MAX_KNOWN)
  readonly #ofTenants = new BoundedMap<string, Spent>(MAX_KNOWN)
  readonly #off = new BoundedMap<string, Off>(MAX_KNOWN)
  /** Conversations that have had pings since their last requests. */
  readonly #pinged = new BoundedMap<string, Pinged>(MAX_KNOWN)
  #held = 0

  constructor(options: PingOptions) {
    this.#options = options
  }

  /** Ends pings of a conversation that continues. Returns how many its pause had. */
  goOn(tenant: string, conversation: string): number {
    const name = nameOf(tenant, conversation)
    const pinged = this.#pinged.get(name)
    this.#pinged.delete(name)
    this.#end(name)
    if (pinged === undefined) return 0
    const isKept = pinged.count > 0 && this.#options.now() - pinged.sentAt > SHORT_LIFE_MS
    if (isKept) spentOf(this.#ofConversations, name, 0).kept = pinged.prompt
    return pinged.count
  }

  /** Plans pings after an answer. */
  plan(request: PingedRequest): void {
    const name = nameOf(request.tenant, request.conversation)
    this.#end(name)
    const cost = costOf({ ...request.usage, output: 0 }, request.prices)
    const [own, tenants] = this.#accountsOf(request)
    for (const each of [own, tenants]) each.spent += cost
    const { cache_read, cache_write } = request.prices
    own.pinged -= (cache_write - cache_read) * Math.min(own.kept, request.usage.cache_read)
    own.kept = 0
    const { length } = request.body
    if (this.#held + length > MAX_BYTES) return
    if (this.#isOff(request) || this.#options.isEnding()) return
    const plan = { ...request, sent: 0, cancel: () => {} }
    this.#held += length
    this.#plans.set(name, plan)
    this.#schedule(name, plan)
  }

  #schedule(name: string, plan: Plan): void {
    const { now, after } = this.#options
    const ms = plan.sentAt + (plan.sent + 1) * PING_AFTER_MS - now()
    plan.cancel = after(Math.max(0, ms), () => void this.#ping(name, plan))
  }

  #end(name: string): void {
    const plan = this.#plans.get(name)
    if (plan === undefined) return
    plan.cancel()
    this.#plans.delete(name)
    this.#held -= plan.body.length
  }

  async #ping(name: string, plan: Plan): Promise<void> {
    const isPlanned = () => this.#plans.get(name) === plan
    const isCurrent = () => isPlanned() && !this.#options.isEnding()
    if (!isCurrent() || !this.#mayStill(plan) || !(await plan.isLast()) || !isCurrent()) {
      if (isPlanned()) this.#end(name)
      return
    }
    const answer = await plan.send(pingBody(plan.body, plan.places))
    const usage = answer?.usage ?? null
    if (usage !== null) {
      const cost = costOf(usage, plan.prices)
      for (const each of this.#accountsOf(plan)) each.pinged += cost
    }
    const written = usage === null ? 0 : usage.cache_write + usage.cache_write_long + usage.uncached
    const isKept = usage !== null && written <= MOST_WRITTEN * promptTokens(usage)
    if (isKept) plan.sent += 1
    else this.#fail(plan, answer?.status)
    if (!isPlanned()) return
    const { sent: count, sentAt } = plan
    this.#pinged.set(name, { count, sentAt, prompt: promptTokens(plan.usage) })
    if (isKept && plan.sent < plan.places.most) this.#schedule(name, plan)
    else this.#end(name)
  }

  /** Whether a ping comes in time, and within all budgets. */
  #mayStill(plan: Plan): boolean {
    const { usage, prices, places, sent, sentAt } = plan
    const idle = this.#options.now() - sentAt
    // A clock that jumped, or a machine that slept: nothing is known of the cache.
    const last = sent * PING_AFTER_MS
    const isInTime = idle >= last + PING_AFTER_MS - EARLY_MS && idle < last + SHORT_LIFE_MS
    if (!isInTime || this.#isOff(plan)) return false
    const [own, tenants] = this.#accountsOf(plan)
    const prompt = promptTokens(usage)
    const most = DAILY_SHARE * tenants.spent
    return (
      mayPing({ prompt, ...own }, prices.cache_read, places.budget) &&
      tenants.pinged + prices.cache_read * prompt <= most
    )
  }

  #accountsOf({ tenant, conversation }: PingedRequest): readonly [Spent, Spent] {
    const own = spentOf(this.#ofConversations, nameOf(tenant, conversation), 0)
    return [own, spentOf(this.#ofTenants, tenant, dayOf(this.#options.now()))]
  }

  #isOff({ tenant, key }: PingedRequest): boolean {
    return (this.#off.get(nameOf(tenant, key))?.until ?? 0) > this.#options.now()
  }

  /** Ends pings of the conversation, and those of the key if that happens too often. */
  #fail({ tenant, key }: PingedRequest, status: number | undefined): void {
    const name = nameOf(tenant, key)
    const now = this.#options.now()
    const day = dayOf(now)
    const known = this.#off.get(name)
    const failures = (known?.day === day ? known.failures : 0) + 1
    const forDay = failures >= MOST_FAILURES ? (day + 1) * DAY_MS : 0
    const forHour = status === TOO_MANY ? now + HOUR_MS : 0
    this.#off.set(name, { until: Math.max(forDay, forHour, known?.until ?? 0), day, failures })
  }
}

function dayOf(time: number): number {
  return Math.floor(time / DAY_MS)
}

/** What a day has so far; a new one begins with nothing. */
function spentOf(all: BoundedMap<string, Spent>, name: string, day: number): Spent {
  const known = all.get(name)
  const spent = known?.day === day ? known : { day, spent: 0, pinged: 0, kept: 0 }
  all.set(name, spent)
  return spent
}

function nameOf(tenant: string, name: string): string {
  return JSON.stringify([tenant, name])
}

/** A timer that does not keep the process from ending. */
export function unheldTimer(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms)
  timer.unref()
  return () => clearTimeout(timer)
}
