/**
 * The operations of `SessionIndex` that take a turn, for callers that have the shard's lock.
 * `digest` is the body's identity in words.
 */
import {
  findBody,
  findCall,
  freeLeast,
  linkLast,
  referenceLength,
  replaceEntry,
  stampPending,
  stateOf,
  takeEntry,
  touchEntry,
} from './entry-chain.ts'
import { readEntry, writeEntry } from './entry-fields.ts'
import { noteUse } from './filter.ts'
import { ENTRY, type IndexView, SESSION, SHARD, STATE } from './layout.ts'
import type { Entry, NewEntry, ResultFacts, SessionKey, Ticket, Turn } from './session-index.ts'
import { evictOldest, findSession, hasKey, openSession, touchSession } from './session-table.ts'

export function beginTurn(
  view: IndexView,
  shard: number,
  key: SessionKey,
  { timeMs, callHash = 0, identity, again }: ResultFacts,
  digest: Int32Array,
): Turn {
  const { words } = view
  let slot = findSession(view, shard, key)
  if (slot === 0) slot = openSession(view, shard, key, timeMs)
  else touchSession(view, shard, slot, timeMs)
  const partition = words[slot + SESSION.partition]!
  const epoch = words[slot + SESSION.epoch]!
  if (identity !== undefined && callHash !== 0) {
    const at = findCall(view, slot, digest, callHash)
    if (at !== 0) {
      const own = words[at + ENTRY.call] === callHash
      const sequence = words[at + (own ? ENTRY.sequence : ENTRY.hitSequence)]!
      const entry = readEntry(view, slot, at, identity)
      const answered = { entry, as: own ? 'body' : 'reference' } as const
      return { key, sequence, partition, epoch, slot, answered, match: null }
    }
  }
  const isCounted = again?.epoch === epoch
  const sequence = isCounted ? again.sequence : words[slot + SESSION.results]! + 1
  // A result that another process counted may be the first that this one sees.
  if (sequence > words[slot + SESSION.results]!) words[slot + SESSION.results] = sequence
  const at = identity === undefined ? 0 : findBody(view, slot, digest)
  const match = at === 0 ? null : readEntry(view, slot, at, identity)
  return { key, sequence, partition, epoch, slot, answered: null, match }
}

export function checkBody(
  view: IndexView,
  _shard: number,
  turn: Turn,
  digest: Int32Array,
  { identity, toolHash }: { readonly identity: string; readonly toolHash: number | undefined },
): Entry | null {
  const slot = sessionOf(view, turn)
  const at = slot === 0 ? 0 : findBody(view, slot, digest, toolHash)
  return at === 0 ? null : readEntry(view, slot, at, identity)
}

export function recordBody(
  view: IndexView,
  shard: number,
  turn: Turn,
  digest: Int32Array,
  { entry, lruSize }: { readonly entry: NewEntry; readonly lruSize: number },
): Ticket | null {
  const slot = sessionOf(view, turn)
  if (slot === 0) return null
  const before = turn.answered === null ? 0 : findCall(view, slot, digest, entry.callHash)
  if (before !== 0) {
    // The first try may have ended with its thread. Its ticket is void, and the new one counts.
    const pending = stateOf(view, before) === STATE.pending
    return pending ? { slot: before, stamp: stampPending(view, before) } : null
  }
  // An eviction to make room must not take this session.
  touchSession(view, shard, slot, entry.timeMs)
  view.words[shard + SHARD.dirty] = slot
  const at = addEntry(view, shard, slot, lruSize)
  const refLength = referenceLength(view, slot, digest, at)
  writeEntry(view, slot, at, entry, { digest, sequence: turn.sequence, refLength })
  noteUse(view, slot, at)
  return { slot: at, stamp: stampPending(view, at) }
}

export function noteReference(
  view: IndexView,
  shard: number,
  turn: Turn,
  digest: Int32Array,
  { sequence, callHash }: { readonly sequence: number; readonly callHash: number },
): boolean {
  const slot = sessionOf(view, turn)
  const at = slot === 0 ? 0 : findBody(view, slot, digest, undefined, sequence)
  if (at === 0) return false
  const { words } = view
  words[shard + SHARD.dirty] = slot
  touchEntry(view, slot, at)
  words[at + ENTRY.hitSequence] = turn.sequence
  words[at + ENTRY.hitCall] = callHash
  return true
}

/** The turn's session, unless it was compacted, closed or evicted since; then 0. */
function sessionOf(view: IndexView, { slot, epoch, key }: Turn): number {
  const same = view.words[slot + SESSION.epoch] === epoch && hasKey(view, slot, key)
  return same ? slot : 0
}

/** One more entry of the session, its last used one, still to be written. */
function addEntry(view: IndexView, shard: number, slot: number, lruSize: number): number {
  const { words } = view
  const most = Math.max(1, lruSize)
  while (words[slot + SESSION.length]! > most) freeLeast(view, shard, slot)
  if (words[slot + SESSION.length] === most) return replaceEntry(view, slot)
  for (;;) {
    const at = takeEntry(view, shard)
    if (at !== 0) {
      linkLast(view, slot, at)
      return at
    }
    // If the session is alone in its shard, it has all entries.
    if (words[shard + SHARD.oldest] === slot) return replaceEntry(view, slot)
    evictOldest(view, shard)
  }
}
