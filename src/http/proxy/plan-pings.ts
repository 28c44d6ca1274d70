import type { AnsweredRequest } from '../../book/bill/answered-request.ts'
import type { Savings } from '../../book/bill/savings.ts'
import type { RewriteReport } from '../../core/contract/operation-result.ts'
import { pricesFor } from '../../core/conversation/usage/billing.ts'
import type { SeenAnswer, UsageObserver } from '../../proxy/usage-observer.ts'
import type { AppContext } from '../context.ts'
import { sessionTerm } from '../request/agent-session.ts'
import type { CachePings } from './cache-pings.ts'
import type { VendorProxy } from './vendor-proxies.ts'

interface PlanNeeds {
  readonly pings: CachePings
  readonly savings: Pick<Savings, 'record' | 'read' | 'prices'>
  observe(): UsageObserver
}

/** A request that was forwarded, and what was seen of its answer. */
interface Forwarded {
  readonly proxy: VendorProxy
  readonly path: string
  readonly body: Uint8Array | undefined
  readonly report: RewriteReport | undefined
  readonly seen: Promise<SeenAnswer>
}

/** For an answer that has no text. */
const TIMEOUT_MS = 60_000

/** Ends pings of the conversation that a request continues. Returns how many its pause had. */
export function endPings(
  c: AppContext,
  report: RewriteReport | undefined,
  pings: CachePings,
): number {
  return report === undefined ? 0 : pings.goOn(c.get('state').caller.tenant, nameOf(c, report))
}

/** Keeps the cache of a conversation alive, once its request was answered in full. */
export async function planPings(
  c: AppContext,
  { proxy, path, body, report, seen }: Forwarded,
  { pings, savings, observe }: PlanNeeds,
): Promise<void> {
  const { ping: places, print } = report ?? {}
  if (places === undefined || print === undefined || body === undefined) return
  const { tenant, keyId: key } = c.get('state').caller
  const { session } = sessionTerm(c)
  const headers = c.env.incoming!.rawHeaders
  const { said } = await seen
  if (said === null || said.usage.cache_read + said.usage.cache_write === 0) return
  const { builtIn, prices } = savings.prices()
  const { vendor } = proxy

  async function send(bytes: Uint8Array) {
    const answer = await proxy.forwarder.ask({ path, headers, body: bytes, timeoutMs: TIMEOUT_MS })
    if (answer === null) return null
    const observer = observe()
    observer.head(answer.status, answer.headers)
    observer.chunk(answer.bytes)
    const { said: told } = await observer.finish()
    const own = { vendor, said: told, report, session, key } as const
    const request: AnsweredRequest = { ...own, isHidden: true, isPing: true }
    if (told !== null) await savings.record(tenant, Promise.resolve(request))
    return { status: answer.status, usage: told?.usage ?? null }
  }

  /** By the accounts, which all processes on a store write. */
  async function isLast() {
    try {
      const { conversations } = await savings.read(tenant)
      const of = conversations.filter(each => each.id === report?.conversation)
      return of.every(each => (each.seen?.at ?? 0) <= print!.at || each.session !== session)
    } catch {
      return false
    }
  }

  pings.plan({
    tenant,
    key,
    conversation: nameOf(c, report!),
    body,
    places,
    usage: said.usage,
    prices: pricesFor(vendor, said.model, [builtIn, prices]),
    sentAt: print.at,
    send,
    isLast,
  })
}

/** Those that begin alike in one session are one: the last request of them has the pings. */
function nameOf(c: AppContext, { conversation = '' }: RewriteReport): string {
  return `${conversation} ${sessionTerm(c).session ?? ''}`
}
