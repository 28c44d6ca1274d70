/**
 * Counts of pieces too long for the kernel's cache: direct-mapped, of fixed size, compared byte by
 * byte.
 */
import { wordAt } from './piece-hash.ts'

/** Longer pieces are rare and hardly ever come twice. */
const LONG_BYTES = 60
const SLOT_WORDS = 16
const SLOTS = 1 << 12

export interface LongPieceCache {
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
export function createLongPieceCache(): LongPieceCache {
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
