/**
 * The body memory: one buffer of 32-bit words, usually shared between threads, never locked.
 *
 * | part | holds |
 * |---|---|
 * | header, 16 words | magic, layout version, units of the ring, positions before they begin again, buckets, head |
 * | table | buckets of 16 words: five entries of tag, position of a body, line; a word unused |
 * | ring | bodies one after the other in units of 64 bytes; none is split by the end of the ring |
 *
 * A **position** counts units ever given out; a body lies at its position modulo the ring's units.
 * Positions begin again after some 2^31 units, at a multiple of the ring's. The head is the
 * position of the next body.
 *
 * | words of a body | hold |
 * |---|---|
 * | 0 | state: 0 until all else is written, then the body's position + 1 |
 * | 1, 2 | bytes of text; lines |
 * | 3 | 1 if lines are named by their printed numbers |
 * | 4, 5 | checksum over all words but 0, 4, 5, 18, 20 and 21 |
 * | 6–9, 10–17 | session key; identity |
 * | 18 | 0 until the body may be referred to, then its position + 1 |
 * | 19 | bytes of the note |
 * | 20, 21 | checksum over the note and the words 1 to 3 and 6 to 17, so that a note is read without its body |
 * | from 22 | start of each line (highest bit: a sign is before it; next: it was a reference in the answer), end of the last; text; note |
 *
 * No locks are needed. Places in the ring are given out by one compare-and-exchange on the head,
 * and positions only grow, so a body is overwritten if the head is more than a ring past its
 * position. The state of a body is written last. A reader checks after its last comparison that the
 * body is still live and its checksum right. A torn or outdated table entry leads to a position
 * that is not live, to a body with another key, or to a line that is not equal.
 */

/** 'HLin' */
const MAGIC = 0x6e694c48
/** Raise with every change of the layout, of the line hash or of what a gutter is. */
const LAYOUT_VERSION = 6

const HEADER_WORDS = 16
const AT_MAGIC = 0
const AT_VERSION = 1
const AT_RING_UNITS = 2
const AT_POSITIONS = 3
const AT_BUCKETS = 4
/** Word of the header: position of the next body. */
export const AT_HEAD = 5

export const UNIT_WORDS = 16
export const BUCKET_WORDS = 16
export const ENTRY_WORDS = 3
export const BUCKET_ENTRIES = 5

export const BODY_STATE = 0
export const BODY_BYTES = 1
export const BODY_LINES = 2
export const BODY_NUMBERED = 3
export const BODY_CHECKSUM = 4
export const BODY_KEY = 6
export const BODY_IDENTITY = 10
export const BODY_READY = 18
export const BODY_NOTE = 19
export const BODY_NOTE_CHECKSUM = 20
export const BODY_STARTS = 22

export const KEY_WORDS = 4
export const IDENTITY_WORDS = 8

/**
 * Part of the memory that is the table: five entries for some 1.3 kB of text, in lines of 35 bytes
 * half of it used.
 */
const TABLE_SHARE = 0.3
const MIN_BYTES = 1 << 16
const MAX_BYTES = 2 ** 31

/** A memory as words, and the places of its parts. */
export interface MemoryParts {
  readonly words: Int32Array
  readonly bytes: Uint8Array
  readonly buckets: number
  /** First word of the table. */
  readonly tableStart: number
  /** First word of the ring. */
  readonly ringStart: number
  readonly ringUnits: number
  /** Positions run from 0 to below this. */
  readonly positions: number
}

/**
 * An empty memory.
 * @param options.bytes its whole size, 64 KiB to 2 GiB
 * @throws RangeError for another size
 */
export function createBodyMemory({ bytes }: { readonly bytes: number }): SharedArrayBuffer {
  if (!(bytes >= MIN_BYTES && bytes <= MAX_BYTES)) {
    throw new RangeError(`a body memory has ${MIN_BYTES} to ${MAX_BYTES} bytes`)
  }
  const units = Math.floor(bytes / (UNIT_WORDS * 4)) - HEADER_WORDS / UNIT_WORDS
  const buckets = Math.floor(units * TABLE_SHARE)
  const ringUnits = units - buckets
  const memory = new SharedArrayBuffer((HEADER_WORDS + units * UNIT_WORDS) * 4)
  const words = new Int32Array(memory)
  words[AT_MAGIC] = MAGIC
  words[AT_VERSION] = LAYOUT_VERSION
  words[AT_RING_UNITS] = ringUnits
  words[AT_POSITIONS] = ringUnits * Math.floor((2 ** 31 - 1) / ringUnits)
  words[AT_BUCKETS] = buckets
  return memory
}

/** @throws RangeError if the buffer is no body memory of this version */
export function partsOfMemory(memory: ArrayBufferLike): MemoryParts {
  const words = new Int32Array(memory)
  if (words[AT_MAGIC] !== MAGIC || words[AT_VERSION] !== LAYOUT_VERSION) {
    throw new RangeError('not a body memory of this version')
  }
  const buckets = words[AT_BUCKETS]!
  return {
    words,
    bytes: new Uint8Array(memory),
    buckets,
    tableStart: HEADER_WORDS,
    ringStart: HEADER_WORDS + buckets * BUCKET_WORDS,
    ringUnits: words[AT_RING_UNITS]!,
    positions: words[AT_POSITIONS]!,
  }
}
