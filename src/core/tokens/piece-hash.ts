/**
 * One hash of a piece's bytes, for the vocabulary's index and for the piece cache. Words of four
 * bytes, little-endian, the last one padded with zeros; multiplications of one group of four do not
 * wait for each other. Not collision-resistant: every hit is verified by comparing bytes.
 */

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
