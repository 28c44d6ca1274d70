/**
 * Packs a vocabulary from tiktoken's text form into the shared layout: done once a machine, then
 * cached.
 */

import { writeShortTokens } from './kernel.ts'
import { addPair, mergedId, NO_MERGE, type PairTable } from './pair-table.ts'
import type { Encoding } from './profiles.ts'
import { addToken, hashOfBytes } from './token-index.ts'
import { buildClassTable } from './unicode-classes.ts'
import {
  createVocabulary,
  EMPTY,
  type OpenVocabulary,
  openVocabulary,
  sealVocabulary,
} from './vocabulary.ts'

/** Tokens in rank order: token `i` is `bytes[starts[i] .. starts[i + 1])`. */
interface TokenList {
  readonly starts: Uint32Array
  readonly bytes: Uint8Array
  readonly count: number
}

/**
 * Packs one encoding.
 * @param bpeRanks tiktoken's `bpe_ranks`: lines of `! <first rank> <base64> <base64> …`, ranks
 * without gaps.
 * @throws RangeError if the ranks have gaps, a single byte has no token, or a token is not made of
 * earlier ones.
 */
export function packVocabulary(encoding: Encoding, bpeRanks: string): SharedArrayBuffer {
  const tokens = parseRanks(bpeRanks)
  const classTable = buildClassTable()
  const buffer = createVocabulary({
    encoding,
    tokens: tokens.count,
    indexSlots: slotsFor(tokens.count),
    pairSlots: slotsFor(tokens.count) >> 1,
    classBytes: classTable.classes.length,
    tokenBytes: tokens.bytes.length,
  })
  const vocabulary = openVocabulary(buffer)
  vocabulary.tokenStarts.set(tokens.starts.subarray(0, tokens.count + 1))
  vocabulary.tokenBytes.set(tokens.bytes)
  vocabulary.classTable.blockOf.set(classTable.blockOf)
  vocabulary.classTable.classes.set(classTable.classes)
  fillIndex(vocabulary, tokens)
  fillPairs(vocabulary, tokens)
  writeShortTokens(vocabulary.shortTokens, vocabulary.tokenStarts, tokens.bytes)
  sealVocabulary(buffer)
  return buffer
}

/** A power of two that keeps open addressing under half full. */
function slotsFor(entries: number): number {
  return 1 << (32 - Math.clz32(entries * 2 - 1))
}

const BASE64 = base64Values()

function base64Values(): Uint8Array {
  const values = new Uint8Array(256)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  for (let i = 0; i < alphabet.length; i++) values[alphabet.charCodeAt(i)] = i
  return values
}

const BLANK = 0x20
const LINE_FEED = 0x0a
const PADDING = 0x3d

function parseRanks(bpeRanks: string): TokenList {
  const text = new TextEncoder().encode(bpeRanks)
  // Four characters of base64 give three bytes; the padding is what `hashOfBytes` may read past the
  // end.
  const bytes = new Uint8Array(Math.ceil(text.length * 0.75) + 16)
  const starts = new Uint32Array((text.length >> 2) + 2)
  let count = 0
  let out = 0
  for (let at = 0; at < text.length; ) {
    const { first, next } = lineStart(text, at)
    if (first !== count) throw new RangeError(`ranks jump from ${count} to ${first}`)
    at = next
    while (at < text.length && text[at] !== LINE_FEED) {
      starts[count++] = out
      let bits = 0
      let have = 0
      for (; at < text.length && text[at]! > BLANK; at++) {
        if (text[at] === PADDING) continue
        bits = (bits << 6) | BASE64[text[at]!]!
        have += 6
        if (have >= 8) {
          have -= 8
          bytes[out++] = bits >>> have
        }
      }
      if (text[at] === BLANK) at++
    }
    at++
  }
  starts[count] = out
  return { starts, bytes: bytes.slice(0, out + 16), count }
}

/** Reads `! <first rank> `. */
function lineStart(text: Uint8Array, at: number): { first: number; next: number } {
  let next = at + 2
  let first = 0
  for (; text[next]! > BLANK; next++) first = first * 10 + (text[next]! - 0x30)
  return { first, next: next + 1 }
}

function fillIndex(vocabulary: OpenVocabulary, tokens: TokenList): void {
  const { tokenIndex, byteIds } = vocabulary
  const { starts, bytes } = tokens
  const view = new DataView(bytes.buffer)
  tokenIndex.fill(EMPTY)
  let singleBytes = 0
  for (let id = 0; id < tokens.count; id++) {
    const start = starts[id]!
    const end = starts[id + 1]!
    addToken(tokenIndex, id, hashOfBytes(view, start, end))
    if (end - start === 1) {
      byteIds[bytes[start]!] = id
      singleBytes++
    }
  }
  if (singleBytes !== 256) throw new RangeError(`${singleBytes} of 256 bytes are tokens`)
}

/**
 * Finds for each token the two parts that its bytes end up as before the last merge. In rank order,
 * so that the pairs which make the parts are known by then. `mergeInRounds` builds on it that every
 * token is made of earlier ones, so that is checked. Then no merge makes a pair of a lower rank
 * than its own, and all pairs of the lowest rank may be merged in one pass.
 */
function fillPairs(vocabulary: OpenVocabulary, tokens: TokenList): void {
  const { pairs, bytePairs, byteIds } = vocabulary
  const { starts, bytes } = tokens
  pairs.fill(EMPTY)
  bytePairs.fill(NO_MERGE)
  const parts = new Int32Array(MAX_TOKEN_BYTES)
  const merges = new Int32Array(MAX_TOKEN_BYTES)
  for (let id = 0; id < tokens.count; id++) {
    const start = starts[id]!
    const length = starts[id + 1]! - start
    if (length === 1) continue
    if (length > MAX_TOKEN_BYTES) throw new RangeError(`token ${id} has ${length} bytes`)
    for (let i = 0; i < length; i++) {
      parts[i] = byteIds[bytes[start + i]!]!
      merges[i] = bytePairs[(bytes[start + i]! << 8) | bytes[start + i + 1]!]!
    }
    if (!mergeToTwo(vocabulary, parts, merges, length)) {
      throw new RangeError(`token ${id} is not made of two earlier tokens`)
    }
    if (length === 2) bytePairs[(bytes[start]! << 8) | bytes[start + 1]!] = id
    addPair(vocabulary, parts[0]!, parts[1]!, id)
  }
}

const MAX_TOKEN_BYTES = 256

/**
 * Merges `parts` with the pairs known so far, given what neighbours merge to; whether two are left.
 */
function mergeToTwo(
  table: PairTable,
  parts: Int32Array,
  merges: Int32Array,
  length: number,
): boolean {
  let count = length
  while (count > 2) {
    let best = NO_MERGE
    let at = 0
    for (let i = 0; i + 1 < count; i++) {
      if (merges[i]! < best) {
        best = merges[i]!
        at = i
      }
    }
    if (best === NO_MERGE) return false
    count--
    parts[at] = best
    for (let i = at + 1; i < count; i++) {
      parts[i] = parts[i + 1]!
      merges[i] = merges[i + 1]!
    }
    if (at + 1 < count) merges[at] = mergedId(table, best, parts[at + 1]!)
    if (at > 0) merges[at - 1] = mergedId(table, parts[at - 1]!, best)
  }
  return true
}
