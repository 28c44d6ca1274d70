import { type Kernel, SHORT_BYTES } from './kernel.ts'
import { createPieceMerger } from './merge-pieces.ts'
import { hashOfBytes, tokenId, wordAt } from './token-index.ts'
import type { OpenVocabulary } from './vocabulary.ts'

/** How the work was spread, for measurements. */
export interface PieceStatistics {
  /** Pieces that were in no cache. */
  readonly misses: number
  /** Pieces that are tokens themselves. */
  readonly whole_tokens: number
}

/** Counts the pieces that the kernel does not know. */
export interface PieceCounter {
  /** Uses the long pieces of one owner from now on, by the number of its place. */
  serve(owner: number): void
  /** Forgets the long pieces of the owner that is served. */
  forget(): void
  /** Tokens of the piece between two addresses of the kernel's memory. */
  count(kernel: Kernel, start: number, end: number): number
  statistics(): PieceStatistics
}

/** A counter over an opened vocabulary. It starts with owner 0. */
export function createPieceCounter(vocabulary: OpenVocabulary): PieceCounter {
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
