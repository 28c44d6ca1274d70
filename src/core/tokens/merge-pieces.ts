/**
 * How many tokens a piece becomes that is not a token itself: byte pair merges, lowest rank first.
 * Short pieces by a scan over few parts; long ones in windows (docs/tokens.md, "Long pieces").
 */
import { createHeapRoom, type HeapRoom, mergeWithHeap } from './merge-heap.ts'
import { mergedId, NO_MERGE } from './pair-table.ts'
import type { OpenVocabulary } from './vocabulary.ts'

/** Up to here the scan for the lowest rank is cheaper than a heap. */
const SCAN_BYTES = 64

/** Counts the tokens of single pieces; keeps its working memory, so one for each thread and encoding. */
export interface PieceMerger {
  /** Tokens of `bytes[start .. end)` by merges alone. */
  count(bytes: Uint8Array, start: number, end: number): number
}

/** A merger over an opened vocabulary. */
export function createPieceMerger(vocabulary: OpenVocabulary): PieceMerger {
  const { pairs, byteIds } = vocabulary
  const ids = new Int32Array(SCAN_BYTES + 1)
  const merges = new Int32Array(SCAN_BYTES + 1)
  let room: HeapRoom = createHeapRoom(256)

  function countByHeap(bytes: Uint8Array, start: number, end: number): number {
    const length = end - start
    if (room.ids.length < length) room = createHeapRoom(length)
    for (let i = 0; i < length; i++) room.ids[i] = byteIds[bytes[start + i]!]!
    return mergeWithHeap(room, pairs, length)
  }

  return {
    count(bytes, start, end) {
      if (end - start > SCAN_BYTES) return countByHeap(bytes, start, end)
      const length = end - start
      for (let i = 0; i < length; i++) ids[i] = byteIds[bytes[start + i]!]!
      return mergeByScan(pairs, ids, merges, length)
    },
  }
}

/**
 * Merges `ids[0 .. count)` in place as far as they go; `merges` is working memory of the same length.
 * @returns how many parts are left
 */
export function mergeByScan(
  pairs: Int32Array,
  ids: Int32Array,
  merges: Int32Array,
  count: number,
): number {
  let left = count
  for (let i = 0; i + 1 < left; i++) merges[i] = mergedId(pairs, ids[i]!, ids[i + 1]!)
  for (;;) {
    let best = NO_MERGE
    let at = 0
    for (let i = 0; i + 1 < left; i++) {
      const rank = merges[i]!
      if (rank < best) {
        best = rank
        at = i
      }
    }
    if (best === NO_MERGE) return left
    left--
    ids[at] = best
    for (let i = at + 1; i < left; i++) {
      ids[i] = ids[i + 1]!
      merges[i] = merges[i + 1]!
    }
    if (at + 1 < left) merges[at] = mergedId(pairs, best, ids[at + 1]!)
    if (at > 0) merges[at - 1] = mergedId(pairs, ids[at - 1]!, best)
  }
}
