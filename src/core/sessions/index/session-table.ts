/**
 * The sessions of a shard: found by buckets of linked slots, ordered by use. All functions want the
 * shard's lock. `shard` and `at` are offsets in words.
 */
import { freeChain } from './entry-chain.ts'
import { HEADER, type IndexView, SESSION, SESSION_WORDS, SHARD, shardAt } from './layout.ts'
import type { SessionKey } from './session-index.ts'

/**
 * The shard of a key. Multilinear hashing with secret multipliers: a client cannot choose keys that
 * meet.
 */
export function shardOf(view: IndexView, key: SessionKey): number {
  const mixed = Math.imul(key[0], view.seedA) + Math.imul(key[1], view.seedB)
  return shardAt(view, (mixed >>> 16) & (view.shards - 1))
}

function bucketOf(view: IndexView, shard: number, words: ArrayLike<number>, from: number): number {
  const mixed = Math.imul(words[from + 2]!, view.seedA) + Math.imul(words[from + 3]!, view.seedB)
  return shard + view.bucketsAt + ((mixed >>> 8) & view.bucketMask)
}

export function hasKey({ words }: IndexView, at: number, key: SessionKey): boolean {
  return (
    words[at] === key[0] &&
    words[at + 1] === key[1] &&
    words[at + 2] === key[2] &&
    words[at + 3] === key[3]
  )
}

/** The session's offset; 0 if it is unknown. */
export function findSession(view: IndexView, shard: number, key: SessionKey): number {
  let at = view.words[bucketOf(view, shard, key, 0)]!
  while (at !== 0 && !hasKey(view, at, key)) at = view.words[at + SESSION.bucketNext]!
  return at
}

/**
 * Opens a new session as the last used one. If the shard is full, the least recently used one is
 * evicted.
 */
export function openSession(
  view: IndexView,
  shard: number,
  key: SessionKey,
  timeMs: number,
): number {
  const { words, floats } = view
  const at = takeSlot(view, shard)
  words[shard + SHARD.dirty] = at
  words.fill(0, at, at + SESSION_WORDS)
  for (let i = 0; i < 4; i++) words[at + SESSION.key + i] = key[i]!
  words[at + SESSION.epoch] = nextEpoch(view)
  floats[(at + SESSION.opened) >> 1] = timeMs
  floats[(at + SESSION.seen) >> 1] = timeMs
  linkSession(view, shard, at)
  return at
}

/** A number that no session had before. */
export function nextEpoch({ header }: IndexView): number {
  // 0 marks a free slot, so it is skipped. It would come once in four thousand million.
  for (;;) {
    const epoch = (Atomics.add(header, HEADER.epoch, 1) + 1) | 0
    if (epoch !== 0) return epoch
  }
}

function takeSlot(view: IndexView, shard: number): number {
  const { words } = view
  const fresh = words[shard + SHARD.freshSession]!
  if (words[shard + SHARD.freeSession] === 0 && fresh < view.sessions) {
    words[shard + SHARD.freshSession] = fresh + 1
    return shard + view.sessionsAt + fresh * SESSION_WORDS
  }
  if (words[shard + SHARD.freeSession] === 0) evictOldest(view, shard)
  const at = words[shard + SHARD.freeSession]!
  words[shard + SHARD.freeSession] = words[at + SESSION.bucketNext]!
  return at
}

/** Evicts the least recently used session of the shard, which must have one. */
export function evictOldest(view: IndexView, shard: number): void {
  view.words[shard + SHARD.evicted]! += 1
  dropSession(view, shard, view.words[shard + SHARD.oldest]!)
}

/**
 * Forgets a session and its entries. After its first write the session is gone, whatever happens to
 * the writer.
 */
export function dropSession(view: IndexView, shard: number, at: number): void {
  const { words } = view
  words[at + SESSION.epoch] = 0
  freeChain(view, shard, at)
  unlinkBucket(view, shard, at)
  unlinkUse(view, shard, at)
  words[at + SESSION.bucketNext] = words[shard + SHARD.freeSession]!
  words[shard + SHARD.freeSession] = at
  words[shard + SHARD.sessions]! -= 1
}

/** Makes it the last used one, at that time. */
export function touchSession(view: IndexView, shard: number, at: number, timeMs: number): void {
  const seen = (at + SESSION.seen) >> 1
  if (timeMs > view.floats[seen]!) view.floats[seen] = timeMs
  if (view.words[shard + SHARD.newest] === at) return
  unlinkUse(view, shard, at)
  linkUse(view, shard, at)
}

/** Puts a session into its bucket and the order of use. */
export function linkSession(view: IndexView, shard: number, at: number): void {
  const { words } = view
  const bucket = bucketOf(view, shard, words, at + SESSION.key)
  words[at + SESSION.bucketNext] = words[bucket]!
  words[bucket] = at
  linkUse(view, shard, at)
  words[shard + SHARD.sessions]! += 1
}

function unlinkBucket(view: IndexView, shard: number, at: number): void {
  const { words } = view
  let link = bucketOf(view, shard, words, at + SESSION.key)
  while (words[link] !== at) link = words[link]! + SESSION.bucketNext
  words[link] = words[at + SESSION.bucketNext]!
}

function linkUse({ words }: IndexView, shard: number, at: number): void {
  const newest = words[shard + SHARD.newest]!
  words[at + SESSION.newer] = 0
  words[at + SESSION.older] = newest
  words[newest === 0 ? shard + SHARD.oldest : newest + SESSION.newer] = at
  words[shard + SHARD.newest] = at
}

function unlinkUse({ words }: IndexView, shard: number, at: number): void {
  const newer = words[at + SESSION.newer]!
  const older = words[at + SESSION.older]!
  words[newer === 0 ? shard + SHARD.newest : newer + SESSION.older] = older
  words[older === 0 ? shard + SHARD.oldest : older + SESSION.newer] = newer
}
