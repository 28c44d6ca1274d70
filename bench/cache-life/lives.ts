import { vendorPrices } from '../../src/config/prices.ts'
import {
  HOUR_MS,
  hourPays,
  mayPing,
  mayTakeHour,
  type PauseSums,
  SHORT_LIFE_MS,
  USUAL_BUDGET,
} from '../../src/core/conversation/usage/life-rules.ts'
import type { BillCall, BillSession } from '../../src/lab/bill/session.ts'

/** What is done about the life of a conversation's cache. */
export interface Policy {
  readonly name: string
  /** Its first life: an hour, or by the earlier conversations of the key. */
  readonly life: 'short' | 'hour' | 'history'
  /** Whether it takes an hour at a cold write, and leaves it, within the budget. */
  readonly isGuarded: boolean
  readonly pings: 0 | 1 | 2
  /** Whether nothing is ever forgotten. */
  readonly isBound?: true
}

const PING_S = 280
const PRICES = vendorPrices('anthropic')
const { cache_read: READ, cache_write: SHORT, cache_write_long: LONG } = PRICES

const plain = { life: 'short', isGuarded: false, pings: 0 } as const
const FIVE: Policy = { ...plain, name: 'five minutes' }
const HOUR: Policy = { ...plain, name: '`life = "1h"`', life: 'hour' }
export const POLICIES: readonly Policy[] = [
  FIVE,
  { ...plain, name: 'no pause ever (bound)', isBound: true },
  HOUR,
  { ...plain, name: '`life = "auto"`, `budget = 0`', life: 'history' },
  { ...plain, name: '`life = "auto"`', isGuarded: true },
  { ...plain, name: '`pings = 1`', pings: 1 },
  { ...plain, name: '`pings = 2`', pings: 2 },
  { ...plain, name: '`life = "auto"`, `pings = 2`', isGuarded: true, pings: 2 },
]

/** What a session's input costs, in input tokens that no cache has, and what it showed. */
export interface LifeBill {
  readonly cost: number
  readonly sums: PauseSums
}

export const promptOf = ({ fresh, read, write }: BillCall) => fresh + read + write

/** How much of the recorded cache a call did not read, and why; `null`: nothing. */
export function missOf(before: BillCall | undefined, call: BillCall) {
  if (before === undefined) return null
  const cached = Math.min(before.read + before.write, promptOf(call))
  const tokens = cached - call.read
  if (tokens < 1_024 || tokens < 0.05 * cached) return null
  const lifeMs = before.hour > 0 ? HOUR_MS : SHORT_LIFE_MS
  if (1_000 * (call.ts - before.ts) > lifeMs) return { reason: 'idle', tokens }
  if (call.model !== before.model) return { reason: 'model', tokens }
  return { reason: call.compacted ? 'history (compacted)' : 'not said by the usage', tokens }
}

/** @param earlier conversations of the same key, the latest first */
function payFor(
  { calls }: BillSession,
  { life, isGuarded, pings, isBound }: Policy,
  earlier: readonly PauseSums[],
): LifeBill {
  let isLong = life === 'hour' || (life === 'history' && hourPays(earlier, PRICES))
  let [cost, premium, pinged, bridged, written] = [0, 0, 0, 0, 0]
  let cached = { tokens: 0, used: 0, isPinged: false }
  for (const [at, call] of calls.entries()) {
    const prompt = promptOf(call)
    const idle = at === 0 ? 0 : 1_000 * (call.ts - calls[at - 1]!.ts)
    const lifeMs = isLong ? HOUR_MS : SHORT_LIFE_MS
    const isCold = isBound !== true && 1_000 * (call.ts - cached.used) > lifeMs
    const miss = missOf(calls[at - 1], call)
    const isLost = miss !== null && miss.reason !== 'idle'
    const most = isLost ? call.read : prompt
    const read = isCold ? 0 : Math.min(cached.tokens, most, prompt - call.fresh)
    const write = prompt - call.fresh - read
    if (idle > SHORT_LIFE_MS && cached.isPinged) pinged -= (SHORT - READ) * read
    if (isGuarded) {
      const next = premium + (LONG - SHORT) * write
      isLong =
        (isLong || (isCold && at > 0)) && mayTakeHour({ premium: next, spent: cost }, USUAL_BUDGET)
    }
    if (isLong) premium += (LONG - SHORT) * write
    const isBridged = idle > SHORT_LIFE_MS && idle <= HOUR_MS
    const kept = isBridged && !isLost ? Math.min(cached.tokens, prompt) : 0
    bridged += kept
    written += isBridged ? prompt - call.fresh - kept : write
    cost += call.fresh + READ * read + (isLong ? LONG : SHORT) * write
    cached = { tokens: prompt - call.fresh, used: call.ts, isPinged: false }
    // Long entries need none.
    for (let n = 1; n <= pings && !isLong; n++) {
      const when = call.ts + n * PING_S
      if (call.end > when || (calls[at + 1]?.ts ?? Infinity) <= when) break
      if (!mayPing({ prompt, pinged, spent: cost }, READ, USUAL_BUDGET)) break
      pinged += READ * prompt
      cost += READ * prompt
      cached = { ...cached, used: when, isPinged: true }
    }
  }
  return { cost, sums: { requests: calls.length, bridged, written } }
}

const keyOf = ({ name }: BillSession) => name.replace(/-[^-]*$/, '')

/** Each session under a policy, in the order of their ends: only what ended before is known. */
export function playLives(sessions: readonly BillSession[], policy: Policy): readonly LifeBill[] {
  const ended: { readonly key: string; readonly end: number; readonly sums: PauseSums }[] = []
  const paid = new Map<BillSession, LifeBill>()
  const inOrder = sessions.toSorted((a, b) => a.calls[0]!.ts - b.calls[0]!.ts)
  for (const session of inOrder) {
    const { ts } = session.calls[0]!
    const earlier = ended
      .filter(({ key, end }) => key === keyOf(session) && end < ts)
      .sort((a, b) => b.end - a.end)
      .map(({ sums }) => sums)
    const bill = payFor(session, policy, earlier)
    paid.set(session, bill)
    ended.push({ key: keyOf(session), end: session.calls.at(-1)!.ts, sums: bill.sums })
  }
  return sessions.map(session => paid.get(session)!)
}

/** Of five minutes and an hour the cheaper one for each session, which only its end can tell. */
export function playBest(sessions: readonly BillSession[]): readonly LifeBill[] {
  const [five, hour] = [playLives(sessions, FIVE), playLives(sessions, HOUR)]
  return five.map((each, at) => (hour[at]!.cost < each.cost ? hour[at]! : each))
}

/** Parts of the sessions that have rows of their own. */
export function partsOf(sessions: readonly BillSession[]): ReadonlyMap<string, readonly number[]> {
  const parts = new Map<string, number[]>()
  for (const [at, session] of sessions.entries()) {
    const { length } = session.calls
    const size = length < 20 ? 'under 20 requests' : length < 60 ? '20 to 59' : '60 and more'
    const half = at % 2 === 0 ? 'one half' : 'the other half'
    for (const part of ['all', half, size, keyOf(session)]) {
      parts.set(part, [...(parts.get(part) ?? []), at])
    }
  }
  return parts
}
