import { type ArmPlay, account, totalOf } from '../../src/lab/bill/account.ts'
import type { PlacedSession } from '../../src/lab/bill/place-results.ts'
import { OUTPUT_PRICE, READ_PRICE, WRITE_PRICES } from '../../src/lab/bill/prices.ts'
import type { BillSession } from '../../src/lab/bill/session.ts'
import { median } from '../../src/lab/bill/statistics.ts'
import { FIVE, type Policy, playLives } from '../cache-life/lives.ts'
import { percentile } from '../support/statistics.ts'

/** o200k tokens of a definition: 14,745 of 24 tools of an agent (`docs/guide/mcp.md`). */
const DEFINITION_TOKENS = 614
/** What a search writes and reads beside the prompt. */
const ASK_TOKENS = 80
const CONVERSATIONS = 5
const RECENT_S = 7 * 86_400
/** The provider's tokens for one of o200k. */
const FACTOR = 1.34

/** What `cache_align.defer` does to a session: tokens spared at its start, and its searches. */
export interface DeferPlay {
  readonly spared: number
  readonly searches: number
}

const keyOf = ({ name }: BillSession) => name.replace(/-[^-]*$/, '')
const toolsOf = ({ calls }: BillSession) =>
  new Set(calls.flatMap(({ results }) => results.map(({ tool }) => tool)))

/**
 * Defers, of the tools that earlier sessions of a key called, those that its last five and its last
 * seven days did not. Definitions are not recorded: each counts with the same size. Tools that no
 * session ever called are in no list, so this is less than what is deferred.
 */
export function playDefer(sessions: readonly BillSession[]): readonly DeferPlay[] {
  return sessions.map(session => {
    const { ts } = session.calls[0]!
    const earlier = sessions
      .filter(each => keyOf(each) === keyOf(session) && each.calls.at(-1)!.ts < ts)
      .filter(each => toolsOf(each).size > 0)
      .sort((a, b) => b.calls[0]!.ts - a.calls[0]!.ts)
    if (earlier.length < CONVERSATIONS) return { spared: 0, searches: 0 }
    const isRecent = (each: BillSession, at: number) =>
      at < CONVERSATIONS || ts - each.calls.at(-1)!.ts <= RECENT_S
    const recent = new Set(earlier.filter(isRecent).flatMap(each => [...toolsOf(each)]))
    const listed = new Set(earlier.flatMap(each => [...toolsOf(each)]))
    const deferred = [...listed].filter(tool => !recent.has(tool))
    const missed = [...toolsOf(session)].filter(tool => deferred.includes(tool))
    const left = deferred.length - missed.length
    return { spared: FACTOR * DEFINITION_TOKENS * left, searches: missed.length }
  })
}

/** A session with what an arm and deferred tools take out of its prompts. */
function smaller(session: PlacedSession, { changes }: ArmPlay, spared: number): BillSession {
  const { name, calls, results } = session
  const saved = new Map<number, number>()
  let next = 0
  const less = calls.map((call, at) => {
    for (; changes[next]?.call === at; next++) {
      const { result, sent } = changes[next]!
      const { raw, tokens } = results[result]!
      saved.set(result, raw === 0 ? 0 : tokens * Math.max(0, 1 - sent / raw))
    }
    const parts = { read: call.read, write: call.write, fresh: call.fresh }
    const take = (tokens: number, start: number) => {
      const kind = start < call.read ? 'read' : start < call.read + call.write ? 'write' : 'fresh'
      parts[kind] = Math.max(0, parts[kind] - tokens)
    }
    take(spared, 0)
    for (const [index, tokens] of saved) {
      const { start, epoch } = results[index]!
      if (epoch === call.epoch && start < call.prompt) take(tokens, start)
    }
    return { ...call, ...parts, hour: Math.min(call.hour, parts.write) }
  })
  return { name, calls: less }
}

/** Input bills of sessions, first as they are with caches of five minutes. */
export function inputPairs(
  sessions: readonly PlacedSession[],
  plays: readonly ArmPlay[],
  { defers, policy }: { readonly defers: readonly DeferPlay[]; readonly policy: Policy },
) {
  const before = playLives(sessions, FIVE)
  const small = sessions.map((each, at) => smaller(each, plays[at]!, defers[at]!.spared))
  const after = playLives(small, policy)
  return sessions.map(({ calls }, at) => {
    const { searches } = defers[at]!
    const prompt = calls.reduce((sum, each) => sum + each.prompt, 0) / calls.length
    const searched =
      searches * (READ_PRICE * prompt + (WRITE_PRICES.minutes + OUTPUT_PRICE) * ASK_TOKENS)
    return { direct: before[at]!.cost, arm: after[at]!.cost + searched }
  })
}

/** Where a context ends. */
const MOST_TOKENS = 200_000
/** The growth of shorter stretches says little. */
const LEAST_CALLS = 20

/** The tokens of each call's prompt under an arm. */
function promptsOf({ calls, results }: PlacedSession, { changes }: ArmPlay): number[] {
  const saved = new Map<number, number>()
  let next = 0
  return calls.map(({ prompt, epoch }, at) => {
    for (; changes[next]?.call === at; next++) {
      const { result, sent } = changes[next]!
      const { raw, tokens } = results[result]!
      saved.set(result, raw === 0 ? 0 : tokens * Math.max(0, 1 - sent / raw))
    }
    let left = prompt
    for (const [index, less] of saved) {
      const result = results[index]!
      if (result.epoch === epoch && result.start < prompt) left -= less
    }
    return left
  })
}

/** How many calls a prompt that grows so takes until it is full. */
function callsUntilFull(prompts: readonly number[]): number {
  const [first = 0] = prompts
  const growth = ((prompts.at(-1) ?? 0) - first) / (prompts.length - 1)
  return growth <= 0 ? Number.POSITIVE_INFINITY : (MOST_TOKENS - first) / growth
}

/**
 * How many times as many calls a session has until its prompt is full, by the growth of its longest
 * stretch without a compaction: the median of the sessions, and their quartiles.
 */
export function roomOf(pairs: readonly (readonly [PlacedSession, ArmPlay])[]) {
  const ratios = pairs.flatMap(([session, arm]) => {
    const stretches = Map.groupBy(session.calls.keys(), at => session.calls[at]!.epoch).values()
    const longest = [...stretches].reduce((a, b) => (b.length > a.length ? b : a), [])
    if (longest.length < LEAST_CALLS) return []
    const direct = longest.map(at => session.calls[at]!.prompt)
    const prompts = promptsOf(session, arm)
    const before = callsUntilFull(direct)
    if (before === Number.POSITIVE_INFINITY || before <= 0) return []
    return callsUntilFull(longest.map(at => prompts[at]!)) / before
  })
  return {
    sessions: ratios.length,
    median: median(ratios),
    low: percentile(ratios, 0.25),
    high: percentile(ratios, 0.75),
  }
}

/** What a model of a bill divides by, and what is saved of it. */
interface Rung {
  whole: number
  saved: number
}

/**
 * The steps from a usual model of a bill to what was paid: results and calls where nothing expires;
 * with recorded misses and prices; with what stands before them; with all texts; with output.
 */
export function ladderOf(session: PlacedSession, arm: ArmPlay): readonly Rung[] {
  const { calls, results } = session
  const sent = new Map(arm.changes.map(({ result, sent: tokens }) => [result, tokens]))
  const lessOf = (index: number) => {
    const { raw, tokens } = results[index]!
    return raw === 0 ? 0 : tokens * Math.max(0, 1 - (sent.get(index) ?? raw) / raw)
  }
  const [simple, real, based] = [none(), none(), none()]
  for (const [at, { read, prompt, epoch, writePrice }] of calls.entries()) {
    const first = calls.findIndex(each => each.epoch === epoch)
    const add = (start: number, tokens: number, less: number, isNew: boolean) => {
      const price = start < read ? READ_PRICE : writePrice
      addTo(simple, isNew ? WRITE_PRICES.minutes : READ_PRICE, tokens, less)
      for (const rung of [real, based]) addTo(rung, price, tokens, less)
    }
    for (const [index, result] of results.entries()) {
      if (result.epoch !== epoch || result.call > at || result.start >= prompt) continue
      add(result.start, result.tokens, lessOf(index), result.call === at)
    }
    for (let earlier = first; earlier < at; earlier++) {
      add(calls[earlier]!.prompt, calls[earlier]!.callTokens, 0, earlier === at - 1)
    }
    const own = results.filter(result => result.epoch === epoch && result.call === first)
    const base = calls[first]!.prompt - own.reduce((sum, { tokens }) => sum + tokens, 0)
    addTo(based, READ_PRICE, Math.min(base, read), 0)
    addTo(based, writePrice, Math.max(0, base - read), 0)
  }
  const direct = account(session, { changes: [], fetches: [] })
  const saved = totalOf(direct) - totalOf(account(session, arm))
  const input = { whole: totalOf(direct) - direct.output, saved }
  return [simple, real, based, input, { whole: totalOf(direct), saved }]
}

const none = (): Rung => ({ whole: 0, saved: 0 })

function addTo(rung: Rung, price: number, tokens: number, less: number): void {
  rung.whole += price * tokens
  rung.saved += price * less
}
