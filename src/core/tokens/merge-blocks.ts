/**
 * Byte pair merges of up to 128 parts: the lowest rank is found by blocks of eight, of which a
 * merge touches few.
 */
import type { HeapRoom } from './merge-heap.ts'
import { mergedId, NO_MERGE, type PairTable } from './pair-table.ts'

/** Most parts that `mergeInBlocks` takes. */
export const BLOCK_PARTS = 1 << 7

/** Lowest key of each block; used within one call only. */
const lows = new Int32Array(BLOCK_PARTS >> 3)

/**
 * Merges `room.ids[0 .. count)` as far as they go, lowest rank first, leftmost first among equals.
 * `room.merges[i]` is what parts `i` and `i + 1` merge to, or NO_MERGE. The parts left are moved to
 * the front.
 * @returns how many parts are left
 */
export function mergeInBlocks(table: PairTable, room: HeapRoom, count: number): number {
  const { ids, merges: keys, next, previous } = room
  const blocks = (count + 7) >> 3
  for (let i = 0; i + 1 < count; i++) keys[i] = keyOf(keys[i]!, i)
  for (let i = count - 1; i < blocks << 3; i++) keys[i] = NO_MERGE
  for (let i = 0; i < count; i++) {
    next[i] = i + 1
    previous[i] = i - 1
  }
  for (let block = 0; block < blocks; block++) lows[block] = lowestOf(keys, block)
  let left = count
  for (;;) {
    let key = lows[0]!
    for (let block = 1; block < blocks; block++) key = lesser(key, lows[block]!)
    if (key === NO_MERGE) break
    const at = key & (BLOCK_PARTS - 1)
    const rank = key >> 7
    const right = next[at]!
    const after = next[right]!
    ids[at] = rank
    next[at] = after
    left--
    keys[right] = NO_MERGE
    keys[at] = NO_MERGE
    if (after < count) {
      previous[after] = at
      keys[at] = keyOf(mergedId(table, rank, ids[after]!), at)
    }
    const before = previous[at]!
    if (before >= 0) {
      keys[before] = keyOf(mergedId(table, ids[before]!, rank), before)
      if (before >> 3 !== at >> 3) lows[before >> 3] = lowestOf(keys, before >> 3)
    }
    if (right >> 3 !== at >> 3) lows[right >> 3] = lowestOf(keys, right >> 3)
    lows[at >> 3] = lowestOf(keys, at >> 3)
  }
  for (let i = 0, to = 0; i < count; i = next[i]!) ids[to++] = ids[i]!
  return left
}

/**
 * Rank and position in one number, so that the least key is the leftmost pair of the lowest rank.
 */
function keyOf(rank: number, position: number): number {
  return rank === NO_MERGE ? NO_MERGE : (rank << 7) | position
}

/**
 * The smaller of two numbers from 0 to 2^31 - 1; without a branch, which would be mispredicted half
 * the time.
 */
function lesser(a: number, b: number): number {
  const difference = (a - b) | 0
  return (b + (difference & (difference >> 31))) | 0
}

function lowestOf(keys: Int32Array, block: number): number {
  const from = block << 3
  return lesser(
    lesser(lesser(keys[from]!, keys[from + 1]!), lesser(keys[from + 2]!, keys[from + 3]!)),
    lesser(lesser(keys[from + 4]!, keys[from + 5]!), lesser(keys[from + 6]!, keys[from + 7]!)),
  )
}
