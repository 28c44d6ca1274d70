/** Byte pair merges of up to 128 parts: the lowest rank is found by blocks of eight, of which a merge touches few. */
import type { HeapRoom } from './merge-heap.ts'
import { mergedId, NO_MERGE, type PairTable } from './pair-table.ts'

/** Most parts that `mergeInBlocks` takes. */
export const BLOCK_PARTS = 128
const BLOCK = 8

/** Lowest rank of each block; used within one call only. */
const lows = new Int32Array(BLOCK_PARTS / BLOCK)

/**
 * Merges `room.ids[0 .. count)` as far as they go, lowest rank first, leftmost first among equals.
 * `room.merges[i]` is what parts `i` and `i + 1` merge to, or NO_MERGE. The parts left are moved to the front.
 * @returns how many parts are left
 */
export function mergeInBlocks(table: PairTable, room: HeapRoom, count: number): number {
  const { ids, merges, next, previous } = room
  const blocks = (count + BLOCK - 1) >> 3
  for (let i = 0; i < count; i++) {
    next[i] = i + 1
    previous[i] = i - 1
  }
  for (let i = count - 1; i < blocks << 3; i++) merges[i] = NO_MERGE
  for (let block = 0; block < blocks; block++) lows[block] = lowestOf(merges, block)
  let left = count
  for (;;) {
    let rank = NO_MERGE
    let block = 0
    for (let i = 0; i < blocks; i++) {
      if (lows[i]! < rank) {
        rank = lows[i]!
        block = i
      }
    }
    if (rank === NO_MERGE) break
    let at = block << 3
    while (merges[at] !== rank) at++
    const right = next[at]!
    const after = next[right]!
    ids[at] = rank
    next[at] = after
    left--
    merges[right] = NO_MERGE
    merges[at] = NO_MERGE
    if (after < count) {
      previous[after] = at
      merges[at] = mergedId(table, rank, ids[after]!)
    }
    const before = previous[at]!
    if (before >= 0) {
      merges[before] = mergedId(table, ids[before]!, rank)
      if (before >> 3 !== block) lows[before >> 3] = lowestOf(merges, before >> 3)
    }
    if (right >> 3 !== block) lows[right >> 3] = lowestOf(merges, right >> 3)
    lows[block] = lowestOf(merges, block)
  }
  for (let i = 0, to = 0; i < count; i = next[i]!) ids[to++] = ids[i]!
  return left
}

function lowestOf(merges: Int32Array, block: number): number {
  const from = block << 3
  let low = merges[from]!
  for (let i = from + 1; i < from + BLOCK; i++) {
    if (merges[i]! < low) low = merges[i]!
  }
  return low
}
