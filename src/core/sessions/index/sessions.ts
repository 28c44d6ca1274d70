/**
 * Operations on whole sessions and their counters, for callers that have the shard's lock. See
 * `SessionIndex`.
 */
import { freeChain, isLive, nextOf, removeEntries } from './entry-chain.ts'
import { readEntry } from './entry-fields.ts'
import { COUNTERS, ENTRY, HINT_FAMILIES, type IndexView, SESSION, SHARD } from './layout.ts'
import {
  type Counters,
  type Entry,
  type EntryMatch,
  KINDS,
  type PresentState,
  type SessionKey,
  type SessionSummary,
  type SharedState,
} from './session-index.ts'
import { dropSession, findSession, nextEpoch, openSession } from './session-table.ts'

export function readPresent(view: IndexView, shard: number, key: SessionKey): PresentState | null {
  const { words } = view
  const slot = findSession(view, shard, key)
  if (slot === 0) return null
  return {
    epoch: words[slot + SESSION.epoch]!,
    partition: words[slot + SESSION.partition]!,
    isShared: (words[slot + SESSION.applied]! & SHARED) !== 0,
    applied: appliedOf(view, slot),
  }
}

export function adoptSession(
  view: IndexView,
  shard: number,
  key: SessionKey,
  { epoch, partition, results, openedMs, timeMs, from, to, isBroken }: SharedState,
): boolean {
  const { words, floats } = view
  let slot = findSession(view, shard, key)
  const isOther = slot !== 0 && words[slot + SESSION.epoch] !== epoch
  const isBehind = slot !== 0 && appliedOf(view, slot) < to
  if (isOther || (isBroken && isBehind)) {
    dropSession(view, shard, slot)
    slot = 0
  }
  const isNew = slot === 0
  if (isNew) {
    slot = openSession(view, shard, key, timeMs)
    words[slot + SESSION.epoch] = epoch
    floats[(slot + SESSION.opened) >> 1] = openedMs
    setApplied(view, slot, 0)
  }
  words[slot + SESSION.partition] = partition
  words[slot + SESSION.results] = Math.max(words[slot + SESSION.results]!, results)
  const has = isNew && isBroken ? from : appliedOf(view, slot)
  if (has !== from || from === to) return false
  setApplied(view, slot, to)
  return true
}

const SHARED = 1 << 31

function appliedOf({ words }: IndexView, slot: number): number {
  return (words[slot + SESSION.applied]! & ~SHARED) >>> 16
}

function setApplied({ words }: IndexView, slot: number, number: number): void {
  const filtered = words[slot + SESSION.filtered]! & 0xffff
  words[slot + SESSION.applied] = filtered | (number << 16) | SHARED
}

export function noteApplied(
  view: IndexView,
  shard: number,
  key: SessionKey,
  { epoch, number }: { readonly epoch: number; readonly number: number },
): void {
  const { words } = view
  const slot = findSession(view, shard, key)
  if (slot === 0 || words[slot + SESSION.epoch] !== epoch) return
  if (appliedOf(view, slot) === number - 1) setApplied(view, slot, number)
}

export function readEntries(
  view: IndexView,
  shard: number,
  key: SessionKey,
  pending: boolean,
): Entry[] {
  const { words } = view
  const slot = findSession(view, shard, key)
  const entries: Entry[] = []
  if (slot === 0) return entries
  let at = words[slot + SESSION.leastUsed]!
  for (let left = words[slot + SESSION.length]!; left > 0; left--, at = nextOf(view, at)) {
    if (!isLive(view, slot, at)) continue
    const entry = readEntry(view, slot, at)
    if (pending || entry.durable) entries.push(entry)
  }
  return entries.reverse().sort((a, b) => b.sequence - a.sequence)
}

export function invalidateEntries(
  view: IndexView,
  shard: number,
  key: SessionKey,
  { pathHash, toolHash, kind }: EntryMatch,
): number {
  const { words } = view
  const slot = findSession(view, shard, key)
  if (slot === 0) return 0
  words[shard + SHARD.dirty] = slot
  const matches = (at: number) =>
    (pathHash === undefined || words[at + ENTRY.path] === pathHash) &&
    (toolHash === undefined || words[at + ENTRY.tool] === toolHash) &&
    (kind === undefined || KINDS[words[at + ENTRY.meta]! & 15] === kind)
  return removeEntries(view, shard, slot, matches)
}

export function compactSession(view: IndexView, shard: number, key: SessionKey): number | null {
  const { words } = view
  const slot = findSession(view, shard, key)
  if (slot === 0) return null
  words[shard + SHARD.dirty] = slot
  words[slot + SESSION.epoch] = nextEpoch(view)
  freeChain(view, shard, slot)
  return ++words[slot + SESSION.partition]!
}

export function closeSession(
  view: IndexView,
  shard: number,
  key: SessionKey,
): SessionSummary | null {
  const summary = readSummary(view, shard, key)
  if (summary !== null) dropSession(view, shard, findSession(view, shard, key))
  return summary
}

/** Drops the sessions without a result since then. Returns their number. */
export function dropIdle(view: IndexView, shard: number, beforeMs: number): number {
  const { words, floats } = view
  for (let dropped = 0; ; dropped++) {
    const oldest = words[shard + SHARD.oldest]!
    if (oldest === 0 || floats[(oldest + SESSION.seen) >> 1]! >= beforeMs) return dropped
    dropSession(view, shard, oldest)
  }
}

const MOST = 0xffffffff
const MOST_HINTS = 0xffff

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
