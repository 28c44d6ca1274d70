import { clearEntry, nextOf } from './entry-chain.ts'
import {
  ENTRY_WORDS,
  type IndexView,
  SESSION,
  SESSION_WORDS,
  SHARD,
  shardAt,
  viewIndex,
} from './layout.ts'
import { release } from './lock.ts'
import { linkSession } from './session-table.ts'

/**
 * Frees the lock of a thread that was terminated, and repairs its shard. Returns how many locks
 * there were (0 or 1). Call it once the thread has ended (its `exit` event), not when its end was
 * requested, because until then it may still write.
 */
export function releaseOwner(memory: SharedArrayBuffer, owner: number): number {
  const view = viewIndex(memory)
  let released = 0
  for (let i = 0; i < view.shards; i++) {
    const shard = shardAt(view, i)
    if (Atomics.load(view.words, shard + SHARD.lock) >> 1 !== owner) continue
    repairShard(view, shard)
    release(view.words, shard + SHARD.lock)
    released++
  }
  return released
}

/** How full the index is; the sums of all shards, read without locks. */
export interface IndexUse {
  readonly sessions: number
  readonly entries: number
  /** Sessions that were evicted since the start because there was no room. */
  readonly evicted: number
}

export function indexUse(memory: SharedArrayBuffer): IndexUse {
  const view = viewIndex(memory)
  return {
    sessions: sum(view, SHARD.sessions),
    entries: sum(view, SHARD.entries),
    evicted: sum(view, SHARD.evicted),
  }
}

function sum(view: IndexView, field: number): number {
  let total = 0
  for (let i = 0; i < view.shards; i++) total += Atomics.load(view.words, shardAt(view, i) + field)
  return total
}

/**
 * Repairs a shard whose writer ended in the middle. The session that was being written is dropped,
 * because its words may be half old and half new. The writer may have been changing lists too, so
 * all lists are built again from the other sessions. The shard's lock must be held, the dead
 * writer's or the caller's.
 */
export function repairShard(view: IndexView, shard: number): void {
  const { words, floats } = view
  const dirty = words[shard + SHARD.dirty]!
  if (dirty !== 0) words[dirty + SESSION.epoch] = 0
  words.fill(0, shard + view.bucketsAt, shard + view.bucketsAt + view.bucketMask + 1)
  for (const list of [
    'sessions',
    'entries',
    'freeSession',
    'freeEntry',
    'newest',
    'oldest',
  ] as const)
    words[shard + SHARD[list]] = 0
  const live: number[] = []
  for (let i = 0; i < words[shard + SHARD.freshSession]!; i++) {
    const at = shard + view.sessionsAt + i * SESSION_WORDS
    if (words[at + SESSION.epoch] !== 0) live.push(at)
    else {
      words[at + SESSION.bucketNext] = words[shard + SHARD.freeSession]!
      words[shard + SHARD.freeSession] = at
    }
  }
  const seen = (at: number) => floats[(at + SESSION.seen) >> 1]!
  for (const at of live.sort((a, b) => seen(a) - seen(b))) linkSession(view, shard, at)
  rebuildFreeEntries(view, shard, live)
  words[shard + SHARD.dirty] = 0
}

/** Every slot that no session's chain holds is free. */
function rebuildFreeEntries(view: IndexView, shard: number, sessions: readonly number[]): void {
  const { words } = view
  const first = shard + view.entriesAt
  const used = new Uint8Array(words[shard + SHARD.freshEntry]!)
  for (const session of sessions) {
    let at = words[session + SESSION.leastUsed]!
    for (let left = words[session + SESSION.length]!; left > 0; left--, at = nextOf(view, at)) {
      used[(at - first) / ENTRY_WORDS] = 1
      words[shard + SHARD.entries]! += 1
    }
  }
  for (let i = 0; i < used.length; i++) {
    if (used[i] === 0) clearEntry(view, shard, first + i * ENTRY_WORDS)
  }
}
