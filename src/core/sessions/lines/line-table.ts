import {
  AT_HEAD,
  BUCKET_ENTRIES,
  BUCKET_WORDS,
  ENTRY_WORDS,
  type MemoryParts,
} from './memory-layout.ts'

/**
 * Entries of one hash that are kept: the newest. More would let one common line push out all
 * others.
 */
const MAX_PER_HASH = 3

/**
 * Places of the lines of a hash, newest body first: entry `i` is line `lines[i]` of the body at
 * `positions[i]`.
 */
export interface Places {
  count: number
  readonly positions: Int32Array
  readonly lines: Int32Array
}

/**
 * The table from hashes to lines of bodies. Its entries may be outdated or torn; the caller must
 * verify them.
 */
export interface LineTable {
  insert(first: number, second: number, position: number, line: number): void
  /** The answer is valid until the next call. */
  find(first: number, second: number): Places
}

/**
 * The table of a memory. Entries are written without locks, each word by itself: words of two
 * entries may mix. A reader notices that when it reads the body.
 */
export function createLineTable(memory: MemoryParts): LineTable {
  const { words, buckets, tableStart } = memory
  const places: Places = {
    count: 0,
    positions: new Int32Array(BUCKET_ENTRIES),
    lines: new Int32Array(BUCKET_ENTRIES),
  }
  const ages = new Int32Array(BUCKET_ENTRIES)

  const bucketOf = (hash: number) => tableStart + ((hash >>> 0) % buckets) * BUCKET_WORDS

  function insert(first: number, second: number, position: number, line: number): void {
    const bucket = bucketOf(first)
    const tag = second || 1
    const head = words[AT_HEAD]!
    let same = 0
    let oldestSame = bucket
    let oldestSameAge = -1
    let oldest = bucket
    let oldestAge = -1
    for (let at = bucket; at < bucket + BUCKET_ENTRIES * ENTRY_WORDS; at += ENTRY_WORDS) {
      const isFree = words[at] === 0
      const age = isFree ? memory.positions : ageOf(memory, words[at + 1]!, head)
      if (age > oldestAge) {
        oldest = at
        oldestAge = age
      }
      if (words[at] !== tag) continue
      // If a body has equal lines, the first represents all of them.
      if (words[at + 1] === position) return
      same++
      if (age > oldestSameAge) {
        oldestSame = at
        oldestSameAge = age
      }
    }
    const at = same >= MAX_PER_HASH ? oldestSame : oldest
    words[at] = tag
    words[at + 1] = position
    words[at + 2] = line
  }

  function find(first: number, second: number): Places {
    const bucket = bucketOf(first)
    const tag = second || 1
    const head = words[AT_HEAD]!
    places.count = 0
    for (let at = bucket; at < bucket + BUCKET_ENTRIES * ENTRY_WORDS; at += ENTRY_WORDS) {
      if (words[at] !== tag) continue
      const position = words[at + 1]!
      const age = ageOf(memory, position, head)
      if (age > memory.ringUnits) continue
      let slot = places.count++
      for (; slot > 0 && ages[slot - 1]! > age; slot--) {
        ages[slot] = ages[slot - 1]!
        places.positions[slot] = places.positions[slot - 1]!
        places.lines[slot] = places.lines[slot - 1]!
      }
      ages[slot] = age
      places.positions[slot] = position
      places.lines[slot] = words[at + 2]!
    }
    return places
  }

  return { insert, find }
}

/** Units given out since `position`; positions begin again at `memory.positions`. */
export function ageOf(memory: MemoryParts, position: number, head: number): number {
  return head >= position ? head - position : head - position + memory.positions
}
