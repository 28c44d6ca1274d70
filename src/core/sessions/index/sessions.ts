import { freeChain, isLive, nextOf, removeEntries } from './entry-chain.ts'
import { readEntry } from './entry-fields.ts'
import { ENTRY, type IndexView, SESSION, SHARD } from './layout.ts'
import {
  type Entry,
  type EntryMatch,
  KINDS,
  type SessionSummary,
  type Turn,
} from './session-index.ts'
import type { SessionKey } from './session-key.ts'
import { dropSession, findSession, nextEpoch } from './session-table.ts'
import { readSummary } from './summary.ts'

/** What happens to whole sessions, for callers that have the shard's lock. See `SessionIndex`. */

export function readPresent(
  view: IndexView,
  shard: number,
  key: SessionKey,
): Pick<Turn, 'epoch' | 'partition'> | null {
  const { words } = view
  const slot = findSession(view, shard, key)
  if (slot === 0) return null
  return { epoch: words[slot + SESSION.epoch]!, partition: words[slot + SESSION.partition]! }
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
