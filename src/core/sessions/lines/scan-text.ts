import { createGutter, NONE, readGutter } from '../../formats/gutter/byte-gutter.ts'
import { createSignScan } from '../../formats/gutter/byte-signs.ts'
import { createNumberingTest } from '../../formats/gutter/numbering.ts'
import type { SessionKey } from '../index/session-index.ts'

/** Texts of more lines are neither matched nor kept: their tables would take 16 bytes a line. */
const MAX_LINES = 1 << 20

/** A text in UTF-8 with its lines and their hashes. */
export interface ScannedText {
  readonly bytes: Uint8Array
  /** Line feeds separate lines, so a text that ends with one has an empty last line. */
  readonly lines: number
  /** Start of each line, and one more: past the end, as if a line feed followed. */
  readonly starts: Uint32Array
  /**
   * Two hashes of each line's text without its gutter or sign, and without any `+` and `-` that it
   * begins with: a part of a diff may lack the header that tells signs from text. Both are 0 for a
   * line that is too short to be looked for.
   */
  readonly hashes: Int32Array
  /** Whether lines are named by the numbers printed before them; else they are counted from 1. */
  readonly numbered: boolean
  /** 1 for each line with the sign of a diff before it; `null` if no line has one. */
  readonly signed: Uint8Array | null
  /**
   * 1 for each line of a numbered text that has no number: no reference can begin or end with it.
   * `null` if there is none.
   */
  readonly unnamed: Uint8Array | null
  /**
   * 1 for each line that the answer has as a reference: later results do not refer to it here, but
   * where that reference leads. `null` if there is none.
   */
  readonly covered: Uint8Array | null
}

/** Lines with a shorter text, such as a lone brace, are found only as neighbours of others. */
const MIN_HASHED_BYTES = 2

/**
 * Bytes, lines and hashes of a text, in one pass.
 * @param key of the session; hashes of two sessions have nothing in common
 * @returns `null` for a text that UTF-8 cannot encode, or with more than 2^20 lines
 */
export function scanText(text: string, key: SessionKey): ScannedText | null {
  if (!text.isWellFormed()) return null
  return scanBytes(encoder.encode(text), key)
}

/** Bytes that are only kept, as one line that is never looked up. */
export function unsplit(bytes: Uint8Array): ScannedText {
  const starts = Uint32Array.of(0, bytes.length + 1)
  return {
    bytes,
    lines: 1,
    starts,
    hashes: new Int32Array(2),
    numbered: false,
    signed: null,
    unnamed: null,
    covered: null,
  }
}

const encoder = new TextEncoder()

function scanBytes(bytes: Uint8Array, key: SessionKey): ScannedText | null {
  const starts = startsOfLines(bytes)
  if (starts === null) return null
  const lines = starts.length - 1
  const hashes = new Int32Array(lines * 2)
  const hasher = createLineHasher(key)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const numbering = createNumberingTest()
  const gutter = createGutter()
  const signs = createSignScan()
  let signed: Uint8Array | null = null
  for (let line = 0; line < lines; line++) {
    const start = starts[line]!
    const end = starts[line + 1]! - 1
    readGutter(bytes, start, end, gutter)
    numbering.add(gutter, end)
    let textStart = gutter.textStart
    if (signs.isSigned(bytes, start, end)) {
      signed ??= new Uint8Array(lines)
      signed[line] = 1
      textStart = start + 1
    }
    while (textStart < end && isPlusOrMinus(bytes[textStart]!)) textStart++
    if (end - textStart < MIN_HASHED_BYTES) continue
    hasher.hash(view, textStart, end)
    hashes[2 * line] = hasher.first()
    hashes[2 * line + 1] = hasher.second()
  }
  const numbered = numbering.isNumbered()
  const unnamed = numbered ? unnamedLines(bytes, starts) : null
  return { bytes, lines, starts, hashes, numbered, signed, unnamed, covered: null }
}

function isPlusOrMinus(byte: number): boolean {
  return byte === PLUS || byte === MINUS
}

const PLUS = 0x2b
const MINUS = 0x2d

function unnamedLines(bytes: Uint8Array, starts: Uint32Array): Uint8Array | null {
  const unnamed = new Uint8Array(starts.length - 1)
  const gutter = createGutter()
  let found = false
  for (let line = 0; line < unnamed.length; line++) {
    readGutter(bytes, starts[line]!, starts[line + 1]! - 1, gutter)
    if (gutter.kind !== NONE) continue
    unnamed[line] = 1
    found = true
  }
  return found ? unnamed : null
}

/** The starts of lines, and one past the end; `null` if there are too many. */
export function startsOfLines(bytes: Uint8Array): Uint32Array | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const { length } = bytes
  // Many lines are longer than this, and few texts need the room twice.
  let starts = new Uint32Array((length >> 4) + 16)
  let lines = 1
  for (let at = 0; at < length; at += 4) {
    // Four bytes at once: a byte of `word` is 0 if it is a line feed, and borrows its highest bit.
    const word = at + 4 <= length ? view.getInt32(at, true) ^ FOUR_LINE_FEEDS : 0
    if (((word - FOUR_ONES) & ~word & FOUR_HIGH_BITS) === 0) continue
    if (lines > MAX_LINES) return null
    if (lines + 5 > starts.length) starts = enlarged(starts)
    const end = Math.min(at + 4, length)
    for (let k = at; k < end; k++) if (bytes[k] === LINE_FEED) starts[lines++] = k + 1
  }
  if (lines > MAX_LINES) return null
  starts[lines] = length + 1
  return starts.subarray(0, lines + 1)
}

const LINE_FEED = 0x0a
const FOUR_LINE_FEEDS = 0x0a0a0a0a
const FOUR_ONES = 0x01010101
const FOUR_HIGH_BITS = 0x80808080 | 0

function enlarged(starts: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(starts.length * 2)
  larger.set(starts)
  return larger
}

/**
 * Odd multipliers: primes of FNV-1a and of the finishers of MurmurHash3 (public domain constants).
 */
const MULTIPLIER_1 = 0x01000193
const MULTIPLIER_2 = 0x5bd1e995
const FINISH_1 = 0x85ebca6b
const FINISH_2 = 0xc2b2ae35

/**
 * Two 32-bit hashes of bytes at once, seeded with a session's key. They find candidates and prove
 * nothing. An attacker who knows the key can make collisions; for that reason candidates per hash
 * are few.
 */
export interface LineHasher {
  hash(bytes: DataView, start: number, end: number): void
  /** The first hash of the bytes hashed last; never 0. */
  first(): number
  second(): number
}

function createLineHasher(key: SessionKey): LineHasher {
  const seed1 = finish(key[0] ^ Math.imul(key[2], FINISH_1))
  const seed2 = finish(key[1] ^ Math.imul(key[3], FINISH_2))
  let one = 0
  let two = 0
  return {
    hash(bytes, start, end) {
      let a = seed1
      let b = seed2
      let at = start
      for (; at + 4 <= end; at += 4) {
        const word = bytes.getInt32(at, true)
        a = Math.imul(a ^ word, MULTIPLIER_1)
        a ^= a >>> 15
        b = Math.imul(b + word, MULTIPLIER_2) ^ (b >>> 13)
      }
      for (; at < end; at++) {
        const byte = bytes.getUint8(at)
        a = Math.imul(a ^ byte, MULTIPLIER_1)
        b = Math.imul(b + byte, MULTIPLIER_2) ^ (b >>> 13)
      }
      one = finish(a ^ (end - start)) || 1
      two = finish(b)
    },
    first: () => one,
    second: () => two,
  }
}

function finish(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), FINISH_1)
  mixed = Math.imul(mixed ^ (mixed >>> 13), FINISH_2)
  return mixed ^ (mixed >>> 16)
}
