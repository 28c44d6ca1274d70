/**
 * The packed vocabulary: one buffer of little-endian 32-bit words, written once and then only read,
 * so that any number of threads may look at it without locks. Header words first, then the sections
 * in this order, each starting at a multiple of 8 bytes.
 *
 * | section | element | holds |
 * |---|---|---|
 * | tokenStarts | u32, tokens + 1 | where each token's bytes start in `tokenBytes`; ids are ranks |
 * | tokenIndex | i32, a power of two | open-addressed, by the hash of a token's bytes: id, tag << 18; -1 is empty |
 * | pairs | i32 × 2, a power of two | open-addressed, by (left id, right id): left, merged << 18; right, merged >> 14 << 18; -1 is empty |
 * | pairFilter | bits, eight for each slot of `pairs` | by the pair's hash: set if some pair with it merges |
 * | bytePairs | i32, 2^16 | id of each token of two bytes, at first << 8 \| second, or NO_MERGE |
 * | byteIds | u32, 256 | id of each single byte |
 * | classBlocks, classes | u8 | the two stages of `ClassTable` |
 * | tokenBytes | u8 | the tokens' bytes, end to end |
 * | shortTokens | u8, 2^21 | the kernel's table of short tokens |
 */

import { crc32 } from 'node:zlib'
import { SHORT_TOKENS_BYTES } from './kernel.ts'
import { ENCODINGS, type Encoding } from './profiles.ts'
import { BLOCKS, type ClassTable } from './unicode-classes.ts'

/** 'HVoc' */
const MAGIC = 0x636f5648
/** Raise with every change of the layout, of a hash below or of the class table. */
const LAYOUT_VERSION = 6

const HEADER_WORDS = 16
const AT_MAGIC = 0
const AT_VERSION = 1
const AT_ENCODING = 2
const AT_TOTAL_BYTES = 3
/** CRC-32 of everything else. */
const AT_CHECKSUM = 4
const AT_TOKENS = 5
const AT_INDEX_SLOTS = 6
const AT_PAIR_SLOTS = 7
const AT_CLASS_BYTES = 8
const AT_TOKEN_BYTES = 9

/** Bits of a token id; both encodings stay below 2^18 tokens. */
export const ID_BITS = 18
export const ID_MASK = (1 << ID_BITS) - 1
/** Low bits of the merged id that share a word with the left id. */
export const MERGED_LOW_BITS = 32 - ID_BITS
export const MERGED_LOW_MASK = (1 << MERGED_LOW_BITS) - 1
export const EMPTY = -1

/** The packed vocabularies of a process; given to every worker thread as they are. */
export type Vocabularies = Readonly<Record<Encoding, SharedArrayBuffer>>

/** Sizes that fix the place of every section. */
export interface VocabularySizes {
  readonly encoding: Encoding
  readonly tokens: number
  readonly indexSlots: number
  readonly pairSlots: number
  readonly classBytes: number
  readonly tokenBytes: number
}

/** Views of a packed vocabulary; all on the same buffer. */
export interface OpenVocabulary {
  readonly encoding: Encoding
  readonly tokenStarts: Uint32Array
  readonly tokenIndex: Int32Array
  readonly pairs: Int32Array
  readonly pairFilter: Int32Array
  readonly bytePairs: Int32Array
  readonly byteIds: Uint32Array
  readonly classTable: ClassTable
  readonly tokenBytes: Uint8Array
  readonly shortTokens: Uint8Array
}

/** Starts an empty vocabulary: header without checksum, all sections zero. */
export function createVocabulary(sizes: VocabularySizes): SharedArrayBuffer {
  const buffer = new SharedArrayBuffer(sections(sizes).end)
  const header = new Int32Array(buffer, 0, HEADER_WORDS)
  header[AT_MAGIC] = MAGIC
  header[AT_VERSION] = LAYOUT_VERSION
  header[AT_ENCODING] = ENCODINGS.indexOf(sizes.encoding)
  header[AT_TOTAL_BYTES] = buffer.byteLength
  header[AT_TOKENS] = sizes.tokens
  header[AT_INDEX_SLOTS] = sizes.indexSlots
  header[AT_PAIR_SLOTS] = sizes.pairSlots
  header[AT_CLASS_BYTES] = sizes.classBytes
  header[AT_TOKEN_BYTES] = sizes.tokenBytes
  return buffer
}

/** Writes the checksum; the last step of packing. */
export function sealVocabulary(buffer: SharedArrayBuffer): void {
  const words = new Int32Array(buffer)
  words[AT_CHECKSUM] = checksum(words)
}

/**
 * Whether the buffer is a whole vocabulary of this layout version and encoding, by header and
 * checksum. Reads every byte: 3 ms or so for 8 MB.
 */
export function isSealedVocabulary(buffer: SharedArrayBuffer, encoding: Encoding): boolean {
  if (buffer.byteLength < HEADER_WORDS * 4 || buffer.byteLength % 8 !== 0) return false
  const words = new Int32Array(buffer)
  if (words[AT_MAGIC] !== MAGIC || words[AT_VERSION] !== LAYOUT_VERSION) return false
  if (words[AT_ENCODING] !== ENCODINGS.indexOf(encoding)) return false
  if (words[AT_TOTAL_BYTES] !== buffer.byteLength) return false
  return words[AT_CHECKSUM] === checksum(words)
}

/**
 * Views of a packed vocabulary, without copying or checking beyond the header.
 * Throws RangeError if the buffer is not a vocabulary of this layout version.
 */
export function openVocabulary(buffer: SharedArrayBuffer): OpenVocabulary {
  const header = new Int32Array(buffer, 0, Math.min(HEADER_WORDS, buffer.byteLength >> 2))
  if (header[AT_MAGIC] !== MAGIC || header[AT_VERSION] !== LAYOUT_VERSION) {
    throw new RangeError('not a packed vocabulary of this version')
  }
  const encoding = ENCODINGS[header[AT_ENCODING]!]
  if (encoding === undefined) throw new RangeError('packed vocabulary of an unknown encoding')
  const sizes: VocabularySizes = {
    encoding,
    tokens: header[AT_TOKENS]!,
    indexSlots: header[AT_INDEX_SLOTS]!,
    pairSlots: header[AT_PAIR_SLOTS]!,
    classBytes: header[AT_CLASS_BYTES]!,
    tokenBytes: header[AT_TOKEN_BYTES]!,
  }
  const at = sections(sizes)
  if (at.end !== buffer.byteLength) throw new RangeError('packed vocabulary of a wrong length')
  return {
    encoding,
    tokenStarts: new Uint32Array(buffer, at.tokenStarts, sizes.tokens + 1),
    tokenIndex: new Int32Array(buffer, at.tokenIndex, sizes.indexSlots),
    pairs: new Int32Array(buffer, at.pairs, sizes.pairSlots * 2),
    pairFilter: new Int32Array(buffer, at.pairFilter, sizes.pairSlots >> 2),
    bytePairs: new Int32Array(buffer, at.bytePairs, 1 << 16),
    byteIds: new Uint32Array(buffer, at.byteIds, 256),
    classTable: {
      blockOf: new Uint8Array(buffer, at.classBlocks, BLOCKS),
      classes: new Uint8Array(buffer, at.classes, sizes.classBytes),
    },
    tokenBytes: new Uint8Array(buffer, at.tokenBytes, sizes.tokenBytes),
    shortTokens: new Uint8Array(buffer, at.shortTokens, SHORT_TOKENS_BYTES),
  }
}

function sections(sizes: VocabularySizes) {
  let end = HEADER_WORDS * 4
  const take = (bytes: number): number => {
    const at = end
    end = (end + bytes + 7) & ~7
    return at
  }
  const tokenStarts = take((sizes.tokens + 1) * 4)
  const tokenIndex = take(sizes.indexSlots * 4)
  const pairs = take(sizes.pairSlots * 8)
  const pairFilter = take(sizes.pairSlots)
  const bytePairs = take((1 << 16) * 4)
  const byteIds = take(256 * 4)
  const classBlocks = take(BLOCKS)
  const classes = take(sizes.classBytes)
  const tokenBytes = take(sizes.tokenBytes)
  const shortTokens = take(SHORT_TOKENS_BYTES)
  return {
    tokenStarts,
    tokenIndex,
    pairs,
    pairFilter,
    bytePairs,
    byteIds,
    classBlocks,
    classes,
    tokenBytes,
    shortTokens,
    end,
  }
}

/** CRC-32 of all but the checksum itself; finds damage, proves nothing against an attacker. */
function checksum(words: Int32Array): number {
  const before = words.subarray(0, AT_CHECKSUM)
  const behind = words.subarray(AT_CHECKSUM + 1)
  return crc32(bytesOf(behind), crc32(bytesOf(before))) | 0
}

function bytesOf({ buffer, byteOffset, byteLength }: Int32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
