/** Exact counts of one encoding: text to UTF-8 in blocks, blocks to pieces, pieces to counts. */
import type { TokenCounter } from './counter.ts'
import { createPieceMerger } from './merge-pieces.ts'
import { hashOfBytes, hashOfWords, wordAt } from './piece-hash.ts'
import { pieceEndCl100k, pieceEndO200k, SENTINEL } from './split-pieces.ts'
import { tokenId } from './token-index.ts'
import type { OpenVocabulary } from './vocabulary.ts'

/** First size of the text buffer; a text without a safe boundary in it makes it grow. */
const BLOCK_BYTES = 1 << 16
/** A buffer that has grown beyond this is given back after the count. */
const KEPT_BYTES = 1 << 20
/** Readable bytes past the text: words are read whole, and contractions look two bytes past a piece. */
const PADDING_BYTES = 16

const SHORT_SLOTS = 1 << 16
const SHORT_BYTES = 15
const LONG_SLOTS = 1 << 12
const LONG_BYTES = 60
const LONG_SLOT_WORDS = 16

/** A counter over an opened vocabulary, with a piece cache of its own: one for each thread. */
export function createBpeCounter(vocabulary: OpenVocabulary): TokenCounter {
  const { classTable, encoding } = vocabulary
  const isO200k = encoding === 'o200k_base'
  const merger = createPieceMerger(vocabulary)
  const encoder = new TextEncoder()
  const short = new Int32Array(SHORT_SLOTS * 4)
  const long = new Int32Array(LONG_SLOTS * LONG_SLOT_WORDS)
  let bytes = new Uint8Array(BLOCK_BYTES + PADDING_BYTES)
  let view = new DataView(bytes.buffer)

  function grow(capacity: number): void {
    const larger = new Uint8Array(capacity + PADDING_BYTES)
    larger.set(bytes.subarray(0, Math.min(bytes.length, larger.length)))
    bytes = larger
    view = new DataView(bytes.buffer)
  }

  function countUpTo(text: string, limit: number): number {
    let total = 0
    let filled = 0
    let read = 0
    while (read < text.length || filled > 0) {
      const rest = read === 0 ? text : text.slice(read)
      const step = encoder.encodeInto(rest, bytes.subarray(filled, bytes.length - PADDING_BYTES))
      read += step.read
      filled += step.written
      const end = read === text.length ? filled : lastSafeBoundary(bytes, filled)
      if (end === 0) {
        grow((bytes.length - PADDING_BYTES) * 2)
        continue
      }
      const kept = bytes[end]!
      bytes[end] = SENTINEL
      total += countBlock(end, limit - total)
      bytes[end] = kept
      if (total > limit) break
      bytes.copyWithin(0, end, filled)
      filled -= end
    }
    if (bytes.length > KEPT_BYTES + PADDING_BYTES) grow(BLOCK_BYTES)
    return total
  }

  function countBlock(end: number, limit: number): number {
    let total = 0
    let at = 0
    while (at < end && total <= limit) {
      const pieceEnd = isO200k
        ? pieceEndO200k(bytes, at, classTable)
        : pieceEndCl100k(bytes, at, classTable)
      const length = pieceEnd - at
      if (length === 1) total++
      else if (length <= SHORT_BYTES) total += countShort(at, pieceEnd, length)
      else total += countLong(at, pieceEnd, length)
      at = pieceEnd
    }
    return total
  }

  function countShort(start: number, end: number, length: number): number {
    const word_0 = wordAt(view, start, end)
    const word_1 = wordAt(view, start + 4, end)
    const word_2 = wordAt(view, start + 8, end)
    const word_3 = wordAt(view, start + 12, end)
    const hash = hashOfWords(word_0, word_1, word_2, word_3, length)
    const slot = (hash & (SHORT_SLOTS - 1)) << 2
    const last = short[slot + 3]!
    if (
      short[slot] === word_0 &&
      short[slot + 1] === word_1 &&
      short[slot + 2] === word_2 &&
      (last & 0xf0ffffff) === (word_3 | (length << 28))
    ) {
      return (last >>> 24) & 15
    }
    const count = countUncached(start, end, hash)
    short[slot] = word_0
    short[slot + 1] = word_1
    short[slot + 2] = word_2
    short[slot + 3] = word_3 | (count << 24) | (length << 28)
    return count
  }

  function countLong(start: number, end: number, length: number): number {
    const hash = hashOfBytes(view, start, end)
    if (length > LONG_BYTES) return countUncached(start, end, hash)
    const slot = (hash & (LONG_SLOTS - 1)) * LONG_SLOT_WORDS
    const head = long[slot]!
    if ((head & 0xff) === length) {
      let at = start
      let word = slot + 1
      while (at < end && long[word] === wordAt(view, at, end)) {
        at += 4
        word++
      }
      if (at >= end) return head >> 8
    }
    const count = countUncached(start, end, hash)
    long[slot] = length | (count << 8)
    for (let at = start, word = slot + 1; at < end; at += 4, word++) {
      long[word] = wordAt(view, at, end)
    }
    return count
  }

  function countUncached(start: number, end: number, hash: number): number {
    if (tokenId(vocabulary, bytes, start, end, hash) >= 0) return 1
    return merger.count(bytes, start, end)
  }

  return {
    id: encoding,
    exact: true,
    count: text => countUpTo(text, Number.MAX_SAFE_INTEGER),
    countUpTo,
  }
}

/** The last position where both patterns split whatever surrounds it (docs/tokens.md); 0 if there is none. */
function lastSafeBoundary(bytes: Uint8Array, filled: number): number {
  for (let at = filled - 1; at > 0; at--) {
    const next = bytes[at]!
    if (next > 0x20 || !IS_SPACE[next]) continue
    if (IS_LETTER_OR_DIGIT[bytes[at - 1]!]) return at
  }
  return 0
}

const IS_SPACE = new Uint8Array(0x21)
for (const space of '\t\n\v\f\r ') IS_SPACE[space.charCodeAt(0)] = 1
const IS_LETTER_OR_DIGIT = new Uint8Array(256)
for (let byte = 0; byte < 0x80; byte++) {
  if (/[0-9A-Za-z]/.test(String.fromCharCode(byte))) IS_LETTER_OR_DIGIT[byte] = 1
}
