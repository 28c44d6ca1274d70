import { type Kernel, SHORT_BYTES } from './kernel.ts'
import { createLongPieceCache, type LongPieceCache } from './long-piece-cache.ts'
import { createPieceMerger } from './merge-pieces.ts'
import { hashOfBytes } from './piece-hash.ts'
import { tokenId } from './token-index.ts'
import type { OpenVocabulary } from './vocabulary.ts'

/** How the work was spread, for measurements. */
export interface PieceStatistics {
  /** Pieces that were in no cache. */
  readonly misses: number
  /** Of these, pieces that are tokens themselves. */
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
