import { type IndexView, SHARD, shardAt, viewIndex } from './layout.ts'
import { release } from './lock.ts'
import { repairShard } from './repair.ts'

/**
 * Frees what a thread held when it was terminated, and makes it whole. Returns how many locks that
 * were (0 or 1). Call it once the thread has ended (its `exit` event), not when its end was
 * requested: until then it may still write.
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
  /** Sessions that left for want of room since the start. */
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
