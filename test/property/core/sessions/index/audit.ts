import { mayHave } from '../../../../../src/core/sessions/index/filter.ts'
import {
  ENTRY,
  ENTRY_WORDS,
  FILTER_WORDS,
  type IndexView,
  SESSION,
  SESSION_WORDS,
  SHARD,
  STATE,
  shardAt,
  viewIndex,
} from '../../../../../src/core/sessions/index/layout.ts'
import type { SessionKey } from '../../../../../src/core/sessions/index/session-index.ts'
import { findSession, shardOf } from '../../../../../src/core/sessions/index/session-table.ts'

/** Everything that must hold of an index at rest; throws what does not. */
export function auditIndex(memory: SharedArrayBuffer): void {
  const view = viewIndex(memory)
  for (let i = 0; i < view.shards; i++) auditShard(view, shardAt(view, i))
}

function auditShard(view: IndexView, shard: number): void {
  const { words } = view
  const at = (offset: number) => words[offset]!
  equal('lock', at(shard + SHARD.lock), 0)
  equal('dirty', at(shard + SHARD.dirty), 0)
  const slots = (first: number, size: number, count: number) =>
    Array.from({ length: count }, (_, i) => first + i * size)
  const sessions = slots(shard + view.sessionsAt, SESSION_WORDS, at(shard + SHARD.freshSession))
  const entries = slots(shard + view.entriesAt, ENTRY_WORDS, at(shard + SHARD.freshEntry))
  const live = sessions.filter(slot => at(slot + SESSION.epoch) !== 0)
  const free = follow(words, at(shard + SHARD.freeSession), SESSION.bucketNext)
  sameSlots('sessions', sessions, [...live, ...free])
  sameSlots('newest to oldest', live, follow(words, at(shard + SHARD.newest), SESSION.older))
  sameSlots('oldest to newest', live, follow(words, at(shard + SHARD.oldest), SESSION.newer))
  equal('live sessions', at(shard + SHARD.sessions), live.length)
  for (const slot of live) {
    const key = [0, 1, 2, 3].map(i => at(slot + i)) as unknown as SessionKey
    equal('shard of a session', shardOf(view, key), shard)
    equal('session by its key', findSession(view, shard, key), slot)
  }
  const chains = live.map(slot => ringOf(words, slot))
  const freeEntries = follow(words, at(shard + SHARD.freeEntry), ENTRY.next)
  sameSlots('entries', entries, [...chains.flat(), ...freeEntries])
  equal('entries in use', at(shard + SHARD.entries), chains.flat().length)
  for (const entry of freeEntries) equal('free', at(entry + ENTRY.state) & 3, STATE.free)
  for (const [i, slot] of live.entries()) {
    auditFilter(view, slot, chains[i]!)
    for (const entry of chains[i]!) {
      if ((at(entry + ENTRY.state) & 3) === STATE.free) throw new Error('a free entry in a chain')
      equal('epoch of an entry', at(entry + ENTRY.epoch), at(slot + SESSION.epoch))
    }
  }
}

/**
 * All entries of a session; each once, from the least used one to the last used one and round
 * again.
 */
function ringOf(words: Int32Array, slot: number): number[] {
  const length = words[slot + SESSION.length]!
  const ring: number[] = []
  for (
    let at = words[slot + SESSION.leastUsed]!;
    ring.length < length;
    at = words[at + ENTRY.next]!
  ) {
    ring.push(at)
  }
  equal('entries in a ring', new Set(ring).size, length)
  if (length === 0) return ring
  equal('the last used entry', words[slot + SESSION.lastUsed], ring.at(-1))
  equal('behind the last used one', words[ring.at(-1)! + ENTRY.next], ring[0])
  return ring
}

/** No entry is missed, and what has left does not stay in it. */
function auditFilter(view: IndexView, slot: number, chain: readonly number[]): void {
  const { words } = view
  for (const entry of chain) equal('in the filter', mayHave(view, slot, words[entry]!), true)
  const filtered = words[slot + SESSION.filtered]! & 0xffff
  let bits = 0
  for (let i = 0; i < FILTER_WORDS; i++) bits += bitsOf(words[slot + SESSION.young + i]!)
  if (filtered > chain.length) throw new Error(`${filtered} in the filter of ${chain.length}`)
  if (bits > 3 * filtered) throw new Error(`${bits} bits for ${filtered} entries`)
}

function bitsOf(word: number): number {
  return (word >>> 0).toString(2).replaceAll('0', '').length
}

function follow(words: Int32Array, first: number, link: number): number[] {
  const found: number[] = []
  for (let at = first; at !== 0; at = words[at + link]!) {
    if (found.push(at) > words.length) throw new Error('a list without end')
  }
  return found
}

function sameSlots(what: string, expected: readonly number[], found: readonly number[]): void {
  const sorted = (slots: readonly number[]) => [...slots].sort((a, b) => a - b).join()
  equal(what, sorted(found), sorted(expected))
}

function equal<T>(what: string, found: T, expected: T): void {
  if (found !== expected) throw new Error(`${what}: ${found} instead of ${expected}`)
}
