import type { ArmPlay } from '../../src/bill/account.ts'
import type { PlacedSession } from '../../src/bill/place-results.ts'
import { OUTPUT_PRICE, READ_PRICE, WRITE_PRICES } from '../../src/bill/prices.ts'
import type { BillSession } from '../../src/bill/session.ts'
import { FIVE, type Policy, playLives } from '../cache-life/lives.ts'

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
