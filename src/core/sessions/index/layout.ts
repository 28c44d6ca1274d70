/**
 * The layout of the session index in shared memory, in 32-bit words. The memory is a header and a
 * number of equal shards; a shard has a head, hash buckets, sessions and entries. Links are offsets
 * in words from the start of the memory, 0 is none. Memory of zeros is a valid empty index, so that
 * nothing is touched before it is used.
 */

/** First word of an index: "HVSX". */
const MAGIC = 0x48565358
/**
 * Changes with the layout; threads of one process always agree, so this only catches a wrong
 * buffer.
 */
const VERSION = 3

export const HEADER = {
  magic: 0,
  version: 1,
  shards: 2,
  /** Capacities of one shard. */
  buckets: 3,
  sessions: 4,
  entries: 5,
  /** The last epoch that was given out; only ever added to, atomically. */
  epoch: 6,
  /** Odd multipliers that place keys in shards and buckets. */
  seedA: 7,
  seedB: 8,
} as const
const HEADER_WORDS = 32

export const SHARD = {
  /** 0, or owner × 2, + 1 if a thread sleeps until it is released. */
  lock: 0,
  /** The session whose words are being written. It is dropped if its writer ends. */
  dirty: 1,
  /** Sessions and entries in use. */
  sessions: 2,
  entries: 3,
  /** Heads of the lists of those that were used and are free again. */
  freeSession: 4,
  freeEntry: 5,
  /** How many were ever used. Those after them have not been touched yet. */
  freshSession: 6,
  freshEntry: 7,
  /** Ends of the list of sessions in order of use. */
  newest: 8,
  oldest: 9,
  /** Sessions that were evicted because the shard was full. */
  evicted: 10,
} as const
const SHARD_WORDS = 32

/** Numbers of a session that are only added to; each one word, and stops at its greatest value. */
export const COUNTERS = [
  'exact',
  'near',
  'lines',
  'baseline_tokens',
  'final_tokens',
  'exact_tokens_saved',
  'near_tokens_saved',
  'lines_tokens_saved',
  'encoder_tokens_saved',
  'elided_tokens',
] as const
/** Families of hints that are counted apart, in 16 bits each. */
export const HINT_FAMILIES = 8

export const SESSION = {
  /** Four words: 128 bits of SHA-256. */
  key: 0,
  /** The epoch of its present entries; 0 if the slot is free. */
  epoch: 4,
  partition: 5,
  bucketNext: 6,
  newer: 7,
  older: 8,
  /**
   * Ends of the ring of its entries; each links to the next later used one, and the last used one
   * to the first.
   */
  leastUsed: 9,
  lastUsed: 10,
  length: 11,
  results: 12,
  /**
   * The lower half of the word: entries that were added to the young half of the filter, at most
   * one for each of its bits.
   */
  filtered: 13,
  /**
   * The upper half of the same word: its highest bit is set if several processes share the session,
   * and the others are the number of the last change that this process has of theirs.
   */
  applied: 13,
  /** Float64, milliseconds, as `opened`. */
  seen: 14,
  /** Two halves of `FILTER_WORDS`: for recent uses, and for earlier ones; see `filter.ts`. */
  young: 16,
  old: 20,
  opened: 24,
  counters: 26,
  hints: 36,
} as const
export const SESSION_WORDS = 40
export const FILTER_WORDS = 4

export const ENTRY = {
  /** Eight words, the first digits in the first. */
  identity: 0,
  /** A stamp that changes with each use of the slot × 4, + one of `STATE`. */
  state: 8,
  /** kind + answer × 16 + length of the reference × 256. */
  meta: 9,
  next: 10,
  sequence: 11,
  epoch: 12,
  bytes: 13,
  /** Milliseconds since its session was opened. */
  time: 14,
  tool: 15,
  path: 16,
  call: 17,
  of: 18,
  /**
   * The call that was last answered with a reference to this entry, and its number in the session.
   */
  hitCall: 19,
  hitSequence: 20,
} as const
export const ENTRY_WORDS = 21

export const STATE = { free: 0, pending: 1, durable: 2, refused: 3 } as const

/** Capacities; the memory is fixed by them. */
export interface IndexSize {
  /** Live sessions that fit. */
  readonly maxSessions: number
  /** Entries of all sessions together. */
  readonly maxEntries: number
  /**
   * Parts with a lock of their own, a power of two; 1 makes the capacities and the order of
   * eviction exact.
   */
  readonly shards?: number
  /**
   * Two 32-bit numbers. With random ones a client cannot choose names of sessions that are all in
   * one bucket. Answers do not depend on them while sessions fit.
   */
  readonly seeds?: readonly [number, number]
}

/** The memory as a thread sees it: views, and the sizes from which places are computed. */
export interface IndexView {
  /** All of the memory. Shards are written under their locks only. */
  readonly words: Int32Array
  /** The header, written atomically. */
  readonly header: Int32Array
  readonly floats: Float64Array
  readonly shards: number
  readonly sessions: number
  readonly entries: number
  readonly bucketMask: number
  readonly seedA: number
  readonly seedB: number
  /** Offsets in a shard, and its size. */
  readonly bucketsAt: number
  readonly sessionsAt: number
  readonly entriesAt: number
  readonly shardWords: number
}

const DEFAULT_SHARDS = 32

/**
 * Memory for an empty index.
 * @throws RangeError for sizes that are no positive integers or more than 32-bit offsets can name
 */
export function createIndexMemory(size: IndexSize): SharedArrayBuffer {
  const {
    maxSessions,
    maxEntries,
    shards = DEFAULT_SHARDS,
    seeds = [0x9e3779b1, 0x85ebca6b],
  } = size
  for (const count of [maxSessions, maxEntries, shards]) {
    if (!Number.isSafeInteger(count) || count < 1) throw new RangeError(`${count} is no size`)
  }
  if ((shards & (shards - 1)) !== 0) throw new RangeError('shards must be a power of two')
  const slack = shardSlack(maxSessions / shards, shards)
  const sessions = Math.ceil((maxSessions / shards) * slack)
  const entries = Math.ceil((maxEntries / shards) * slack)
  const buckets = 2 ** Math.ceil(Math.log2(Math.max(2, sessions)))
  const words = HEADER_WORDS + shards * sizeOfShard(buckets, sessions, entries).shardWords
  if (words >= 2 ** 31) throw new RangeError('the index is too large')
  const memory = new SharedArrayBuffer(words * Int32Array.BYTES_PER_ELEMENT)
  const header = new Int32Array(memory, 0, HEADER_WORDS)
  header[HEADER.magic] = MAGIC
  header[HEADER.version] = VERSION
  header[HEADER.shards] = shards
  header[HEADER.buckets] = buckets
  header[HEADER.sessions] = sessions
  header[HEADER.entries] = entries
  header[HEADER.seedA] = seeds[0] | 1
  header[HEADER.seedB] = seeds[1] | 1
  return memory
}

/**
 * How much larger a shard is than its share. Keys fall into shards as by chance, so their numbers
 * have a standard deviation of √mean; five of them are exceeded by one shard in three million.
 */
function shardSlack(mean: number, shards: number): number {
  return shards === 1 ? 1 : 1 + 5 / Math.sqrt(mean)
}

function sizeOfShard(buckets: number, sessions: number, entries: number) {
  const bucketsAt = SHARD_WORDS
  const sessionsAt = bucketsAt + buckets
  const entriesAt = sessionsAt + sessions * SESSION_WORDS
  const end = entriesAt + entries * ENTRY_WORDS
  // Heads of shards lie on cache lines of their own.
  return { bucketsAt, sessionsAt, entriesAt, shardWords: Math.ceil(end / 32) * 32 }
}

/** @throws TypeError for memory that is no index of this version */
export function viewIndex(memory: SharedArrayBuffer): IndexView {
  const words = new Int32Array(memory)
  const head = (at: number) => words[at] ?? 0
  if (head(HEADER.magic) !== MAGIC || head(HEADER.version) !== VERSION) {
    throw new TypeError('not the memory of a session index')
  }
  const [buckets, sessions, entries] = [HEADER.buckets, HEADER.sessions, HEADER.entries].map(head)
  return {
    words,
    header: new Int32Array(memory, 0, HEADER_WORDS),
    floats: new Float64Array(memory),
    shards: head(HEADER.shards),
    sessions: sessions!,
    entries: entries!,
    bucketMask: buckets! - 1,
    seedA: head(HEADER.seedA),
    seedB: head(HEADER.seedB),
    ...sizeOfShard(buckets!, sessions!, entries!),
  }
}

/** Offset of a shard. */
export function shardAt(view: IndexView, index: number): number {
  return HEADER_WORDS + index * view.shardWords
}
