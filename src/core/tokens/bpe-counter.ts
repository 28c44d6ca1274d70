/** Exact counts of one encoding: text to UTF-8 in blocks, blocks to pieces, pieces to counts. */
import { typedText } from '../base/typed-text.ts'
import { requireString, type TokenCounter } from './counter.ts'
import { AT_TEXT, createKernel, type Kernel, OWNERS, SHORT_BYTES } from './kernel.ts'
import { createPieceMerger } from './merge-pieces.ts'
import { lastSafeBoundary } from './safe-boundary.ts'
import { pieceEndCl100k, pieceEndO200k, SENTINEL } from './split-pieces.ts'
import { hashOfBytes, tokenId, wordAt } from './token-index.ts'
import type { OpenVocabulary } from './vocabulary.ts'

/** First size of the text buffer; a text without a safe boundary in it makes it grow. */
const BLOCK_BYTES = 1 << 16
/** A kernel whose text buffer has grown beyond this is dropped after the count, with its cache. */
const KEPT_BYTES = 1 << 22
/** Shorter texts are written into the buffer by hand: a call of the encoder would cost more. */
const SHORT_TEXT = 20
/** A bound for sums of tokens within 32 bits: no text has more. */
const NO_LIMIT = 0x7fffffff

/** How the work was spread, for measurements. */
interface CounterStatistics extends PieceStatistics {
  readonly pieces: number
}

export interface BpeCounter extends TokenCounter {
  /**
   * Counts for this owner from now on. It does not use pieces that were counted for others, so that
   * the time of a count reveals nothing about them. The pieces of 8 owners are kept; an owner that
   * comes after more others than that starts without any.
   */
  serve(owner: string): void
  statistics(): CounterStatistics
}

/** A counter over an opened vocabulary, with a piece cache of its own: one for each thread. */
export function createBpeCounter(vocabulary: OpenVocabulary): BpeCounter {
  const { classTable, encoding } = vocabulary
  const splitEnd = encoding === 'o200k_base' ? pieceEndO200k : pieceEndCl100k
  const pieces = createPieceCounter(vocabulary)
  const owners = createPieceOwners(OWNERS)
  const encoder = new TextEncoder()
  let owner: string | null = null
  let index = 0
  let kernel = startKernel()
  /** The block that a text begins in; made once, as most texts need no other. */
  let block = kernel.bytes.subarray(AT_TEXT, AT_TEXT + BLOCK_BYTES)

  function startKernel(): Kernel {
    const host = {
      pieceEnd: (start: number) => splitEnd(created.bytes, start, classTable),
      countPiece: (start: number, end: number) => pieces.count(kernel, start, end),
    }
    const created = createKernel(encoding, BLOCK_BYTES, host, vocabulary.shortTokens)
    created.serve(index)
    return created
  }

  function serve(next: string): void {
    if (next === owner) return
    const place = owners.place(next)
    owner = next
    index = place.index
    pieces.serve(index)
    kernel.serve(index)
    if (!place.isForeign) return
    kernel.forget(index)
    pieces.forget()
  }

  function countUpTo(string: string, limit: number): number {
    requireString(string)
    const text = typedText(string)
    if (text.length < SHORT_TEXT && writeAscii(kernel.bytes, text)) {
      if (text === '') return 0
      return countBlock(kernel, AT_TEXT, AT_TEXT + text.length, limit)
    }
    let total = 0
    let filled = 0
    let read = 0
    let room = BLOCK_BYTES
    while (read < text.length || filled > 0) {
      const rest = read === 0 ? text : text.slice(read)
      const isFirst = filled === 0 && room === BLOCK_BYTES
      const target = isFirst ? block : kernel.bytes.subarray(AT_TEXT + filled, AT_TEXT + room)
      const step = encoder.encodeInto(rest, target)
      read += step.read
      filled += step.written
      const end = read === text.length ? filled : lastSafeBoundary(kernel.bytes, AT_TEXT, filled)
      if (end === 0) {
        room *= 2
        kernel.reserve(room)
        block = kernel.bytes.subarray(AT_TEXT, AT_TEXT + BLOCK_BYTES)
        continue
      }
      total += countBlock(kernel, AT_TEXT, AT_TEXT + end, limit - total)
      if (total > limit) break
      kernel.bytes.copyWithin(AT_TEXT, AT_TEXT + end, AT_TEXT + filled)
      filled -= end
    }
    if (room > KEPT_BYTES) {
      kernel = startKernel()
      block = kernel.bytes.subarray(AT_TEXT, AT_TEXT + BLOCK_BYTES)
    }
    return total
  }

  serve('')
  return {
    id: encoding,
    exact: true,
    additive: true,
    count: text => countUpTo(text, NO_LIMIT),
    countUpTo,
    serve,
    statistics: () => ({ pieces: kernel.pieces(), ...pieces.statistics() }),
  }
}

/** Counts the bytes from `start` to before `end`, which begin and end at a boundary. */
function countBlock(kernel: Kernel, start: number, end: number, limit: number): number {
  const { bytes } = kernel
  const kept = bytes[end]!
  bytes[end] = SENTINEL
  const tokens = kernel.countBlock(start, end, Math.min(limit, NO_LIMIT))
  bytes[end] = kept
  return tokens
}

/** Writes an ASCII text into the buffer. Returns `false` for any other text. */
function writeAscii(bytes: Uint8Array, string: string): boolean {
  const text = typedText(string)
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c >= 0x80) return false
    bytes[AT_TEXT + i] = c
  }
  return true
}

/** Places for the pieces of owners, which may be more than the places. */
interface PieceOwners {
  /** The owner's place, from 0, and whether it has the pieces of another owner. */
  place(owner: string): { readonly index: number; readonly isForeign: boolean }
}

/** The owner that was not served for longest gives up its place. */
export function createPieceOwners(places: number): PieceOwners {
  /** In the order of use, the oldest first. */
  const indexOf = new Map<string, number>()

  /** The oldest owner leaves its place. */
  function vacate(): number {
    const [oldest, index] = indexOf.entries().next().value!
    indexOf.delete(oldest)
    return index
  }

  return {
    place(owner) {
      const known = indexOf.get(owner)
      if (known !== undefined) indexOf.delete(owner)
      const isForeign = known === undefined && indexOf.size === places
      const index = known ?? (isForeign ? vacate() : indexOf.size)
      indexOf.set(owner, index)
      return { index, isForeign }
    },
  }
}

/** How the work was spread, for measurements. */
interface PieceStatistics {
  /** Pieces that were in no cache. */
  readonly misses: number
  /** Pieces that are tokens themselves. */
  readonly whole_tokens: number
}

/** Counts the pieces that the kernel does not know. */
interface PieceCounter {
  /** Uses the long pieces of one owner from now on, by the number of its place. */
  serve(owner: number): void
  /** Forgets the long pieces of the owner that is served. */
  forget(): void
  /** Tokens of the piece between two addresses of the kernel's memory. */
  count(kernel: Kernel, start: number, end: number): number
  statistics(): PieceStatistics
}

/** A counter over an opened vocabulary. It starts with owner 0. */
function createPieceCounter(vocabulary: OpenVocabulary): PieceCounter {
  const merger = createPieceMerger(vocabulary)
  const longPiecesOf: LongPieceCache[] = [createLongPieceCache()]
  let longPieces = longPiecesOf[0]!
  let misses = 0
  let wholeTokens = 0
  return {
    serve(owner) {
      longPieces = longPiecesOf[owner] ??= createLongPieceCache()
    },
    forget: () => longPieces.clear(),
    count({ bytes, view }, start, end) {
      const hash = hashOfBytes(view, start, end)
      if (end - start > SHORT_BYTES) {
        const known = longPieces.get(view, start, end, hash)
        if (known > 0) return known
      }
      misses++
      if (tokenId(vocabulary, bytes, start, end, hash) >= 0) {
        wholeTokens++
        return 1
      }
      const tokens = merger.count(bytes, start, end)
      longPieces.set(view, start, end, hash, tokens)
      return tokens
    },
    statistics: () => ({ misses, whole_tokens: wholeTokens }),
  }
}

/** Longer pieces are rare and hardly ever come twice. */
const LONG_BYTES = 60
const SLOT_WORDS = 16
const SLOTS = 1 << 12

/**
 * Counts of pieces too long for the kernel's cache: direct-mapped, of fixed size, compared byte by
 * byte.
 */
interface LongPieceCache {
  /** Tokens of the piece, or 0 if it is not known. */
  get(view: DataView, start: number, end: number, hash: number): number
  /** Remembers a piece, unless it is too long, and forgets the one in its place. */
  set(view: DataView, start: number, end: number, hash: number, tokens: number): void
  /** Forgets all pieces. */
  clear(): void
}

/**
 * A cache of 256 kB. A slot is one word of length | tokens << 8, and the bytes padded with zeros.
 */
function createLongPieceCache(): LongPieceCache {
  const slots = new Int32Array(SLOTS * SLOT_WORDS)
  return {
    get(view, start, end, hash) {
      const slot = (hash & (SLOTS - 1)) * SLOT_WORDS
      const head = slots[slot]!
      if (end - start > LONG_BYTES || (head & 0xff) !== end - start) return 0
      for (let at = start, word = slot + 1; at < end; at += 4, word++) {
        if (slots[word] !== wordAt(view, at, end)) return 0
      }
      return head >> 8
    },
    set(view, start, end, hash, tokens) {
      if (end - start > LONG_BYTES) return
      const slot = (hash & (SLOTS - 1)) * SLOT_WORDS
      slots[slot] = (end - start) | (tokens << 8)
      for (let at = start, word = slot + 1; at < end; at += 4, word++) {
        slots[word] = wordAt(view, at, end)
      }
    },
    clear: () => void slots.fill(0),
  }
}
