import {
  ENTRY,
  ENTRY_WORDS,
  type IndexView,
  SESSION,
  SESSION_WORDS,
  SHARD,
  STATE,
  shardAt,
  viewIndex,
} from '../../../../src/core/dedup/index/layout.ts'
import type { SessionKey } from '../../../../src/core/dedup/index/session-key.ts'
import { findSession, shardOf } from '../../../../src/core/dedup/index/session-table.ts'

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
  const chains = live.map(slot => follow(words, at(slot + SESSION.first), ENTRY.next))
  const freeEntries = follow(words, at(shard + SHARD.freeEntry), ENTRY.next)
  sameSlots('entries', entries, [...chains.flat(), ...freeEntries])
  equal('entries in use', at(shard + SHARD.entries), chains.flat().length)
  for (const entry of freeEntries) equal('free', at(entry + ENTRY.state) & 3, STATE.free)
  for (const [i, slot] of live.entries()) {
    const filter = [0, 0]
    for (const entry of chains[i]!) {
      const first = at(entry + ENTRY.identity) & 63
      filter[first >> 5]! |= 1 << (first & 31)
    }
    equal(
      'filter',
      `${at(slot + SESSION.filter)} ${at(slot + SESSION.filter + 1)}`,
      filter.join(' '),
    )
    equal('length of a chain', at(slot + SESSION.length), chains[i]!.length)
    for (const entry of chains[i]!) {
      if ((at(entry + ENTRY.state) & 3) === STATE.free) throw new Error('a free entry in a chain')
      equal('epoch of an entry', at(entry + ENTRY.epoch), at(slot + SESSION.epoch))
    }
  }
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
