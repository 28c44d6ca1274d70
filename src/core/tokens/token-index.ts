/**
 * Which byte strings are tokens: the vocabulary's open-addressed index over the tokens' bytes. One
 * hash of a piece's bytes serves the index and the piece cache. Words of four bytes, little-endian,
 * the last one padded with zeros; multiplications of one group of four do not wait for each other.
 * Not collision-resistant: every hit is verified by comparing bytes.
 */
import { EMPTY, ID_BITS, ID_MASK, type OpenVocabulary } from './vocabulary.ts'

/** Odd multipliers with well spread bits (from the fractional parts of square roots of primes). */
const MULTIPLIER_0 = 0x9e3779b1 | 0
const MULTIPLIER_1 = 0x85ebca77 | 0
const MULTIPLIER_2 = 0xc2b2ae3d | 0
const MULTIPLIER_3 = 0x27d4eb2f | 0
const MULTIPLIER_LENGTH = 0x165667b1 | 0

/** Hash of up to 16 bytes given as four words. */
function hashOfWords(
  word_0: number,
  word_1: number,
  word_2: number,
  word_3: number,
  lengthBytes: number,
): number {
  return finish(
    Math.imul(word_0, MULTIPLIER_0) +
      Math.imul(word_1, MULTIPLIER_1) +
      Math.imul(word_2, MULTIPLIER_2) +
      Math.imul(word_3, MULTIPLIER_3) +
      Math.imul(lengthBytes, MULTIPLIER_LENGTH),
  )
}

/**
 * Hash of any number of bytes; equals `hashOfWords` up to 16 bytes. The bytes up to 4 past `end`
 * must be readable.
 */
export function hashOfBytes(view: DataView, start: number, end: number): number {
  const lengthBytes = end - start
  let hash = 0
  for (let at = start; at < end; at += 16) {
    hash = hashOfWords(
      wordAt(view, at, end) ^ hash,
      wordAt(view, at + 4, end),
      wordAt(view, at + 8, end),
      wordAt(view, at + 12, end),
      lengthBytes,
    )
  }
  return hash
}

/** The four bytes at `at`, those from `end` on taken as zero. */
export function wordAt(view: DataView, at: number, end: number): number {
  const rest = end - at
  if (rest >= 4) return view.getInt32(at, true)
  if (rest <= 0) return 0
  return view.getInt32(at, true) & (-1 >>> (32 - 8 * rest))
}

function finish(sum: number): number {
  let hash = sum | 0
  hash = Math.imul(hash ^ (hash >>> 15), MULTIPLIER_1)
  return hash ^ (hash >>> 13)
}

/**
 * Slot values: id in the low bits, the hash's top bits as a tag above, so that most misses end in
 * one read.
 */
function tagOf(hash: number): number {
  return hash >>> ID_BITS
}

/** Id of the token with these bytes and this hash (`hashOfBytes`), or -1. */
export function tokenId(
  vocabulary: OpenVocabulary,
  bytes: Uint8Array,
  start: number,
  end: number,
  hash: number,
): number {
  const { tokenIndex, tokenStarts, tokenBytes } = vocabulary
  const mask = tokenIndex.length - 1
  const tag = tagOf(hash)
  for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
    const entry = tokenIndex[slot]!
    if (entry === EMPTY) return -1
    if (entry >>> ID_BITS !== tag) continue
    const id = entry & ID_MASK
    let at = tokenStarts[id]!
    if (tokenStarts[id + 1]! - at !== end - start) continue
    let i = start
    while (i < end && bytes[i] === tokenBytes[at]) {
      i++
      at++
    }
    if (i === end) return id
  }
}

/** Adds a token that is not in the index yet. */
export function addToken(tokenIndex: Int32Array, id: number, hash: number): void {
  const mask = tokenIndex.length - 1
  let slot = hash & mask
  while (tokenIndex[slot] !== EMPTY) slot = (slot + 1) & mask
  tokenIndex[slot] = id | (tagOf(hash) << ID_BITS)
}
