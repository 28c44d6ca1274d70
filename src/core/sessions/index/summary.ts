import { isLive, nextOf } from './entry-chain.ts'
import { COUNTERS, HINT_FAMILIES, type IndexView, SESSION } from './layout.ts'
import type { Counters, SessionSummary } from './session-index.ts'
import type { SessionKey } from './session-key.ts'
import { findSession } from './session-table.ts'

const MOST = 0xffffffff
const MOST_HINTS = 0xffff

/** What is counted in a session, for callers that have the shard's lock. See `SessionIndex`. */

export function addCounters(
  view: IndexView,
  shard: number,
  key: SessionKey,
  counters: Partial<Counters>,
): void {
  const { words } = view
  const session = findSession(view, shard, key)
  if (session === 0) return
  for (let i = 0; i < COUNTERS.length; i++) {
    const added = counters[COUNTERS[i]!]
    if (added === undefined) continue
    const at = session + SESSION.counters + i
    words[at] = Math.min((words[at]! >>> 0) + added, MOST)
  }
}

/** Counts a hint of a family unless `max` were sent, or more than can be counted. */
export function takeHint(
  view: IndexView,
  shard: number,
  key: SessionKey,
  family: number,
  max: number,
): boolean {
  const { words } = view
  const session = findSession(view, shard, key)
  if (session === 0) return false
  const sent = hintsOf(words, session, family)
  if (sent >= Math.min(max, MOST_HINTS)) return false
  words[session + SESSION.hints + (family >> 1)]! += (family & 1) === 0 ? 1 : 0x10000
  return true
}

function hintsOf(words: Int32Array, session: number, family: number): number {
  const word = words[session + SESSION.hints + (family >> 1)]!
  return (family & 1) === 0 ? word & MOST_HINTS : word >>> 16
}

export function readSummary(
  view: IndexView,
  shard: number,
  key: SessionKey,
): SessionSummary | null {
  const { words, floats } = view
  const session = findSession(view, shard, key)
  if (session === 0) return null
  let entries = 0
  let at = words[session + SESSION.leastUsed]!
  for (let left = words[session + SESSION.length]!; left > 0; left--, at = nextOf(view, at)) {
    if (isLive(view, session, at)) entries++
  }
  const counters = COUNTERS.map((name, i) => [name, words[session + SESSION.counters + i]! >>> 0])
  return {
    ...(Object.fromEntries(counters) as Counters),
    results: words[session + SESSION.results]!,
    partition: words[session + SESSION.partition]!,
    entries,
    openedMs: floats[(session + SESSION.opened) >> 1]!,
    seenMs: floats[(session + SESSION.seen) >> 1]!,
    hints: Array.from({ length: HINT_FAMILIES }, (_, family) => hintsOf(words, session, family)),
  }
}
