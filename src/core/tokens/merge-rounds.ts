/** Byte pair merges of few or repetitive parts: one pass over all parts for each rank. */
import { mergedId, NO_MERGE, type PairTable } from './pair-table.ts'

/**
 * Merges `ids[0 .. count)` in place. `merges[i]` is what parts `i` and `i + 1` merge to, or
 * NO_MERGE. Every pair of the lowest rank is merged in one pass, left to right: no merge makes a
 * pair of a lower rank than its own, as packing has checked that tokens are made of earlier ones
 * only. A run of one letter takes a few passes.
 * @param work parts to visit before giving up
 * @returns how many parts are left; their negative count if `work` was used up before the end
 */
export function mergeInRounds(
  table: PairTable,
  ids: Int32Array,
  merges: Int32Array,
  count: number,
  work: number,
): number {
  let left = count
  let visits = work
  let rank = lowest(merges, count - 1)
  while (rank !== NO_MERGE) {
    visits -= left
    if (visits < 0) return -left
    // Up to the pair before the first one of this rank nothing changes.
    let best = NO_MERGE
    let from = 0
    while (merges[from] !== rank) {
      if (from > 0 && merges[from - 1]! < best) best = merges[from - 1]!
      from++
    }
    let to = from
    let isNew = false
    let merge = NO_MERGE
    while (from < left) {
      const wasNew = isNew
      let id = ids[from]!
      isNew = merges[from] === rank && from + 1 < left
      if (isNew) {
        id = rank
        from++
      }
      if (to > 0) {
        if (isNew || wasNew) merge = mergedId(table, ids[to - 1]!, id)
        merges[to - 1] = merge
        if (merge < best) best = merge
      }
      merge = merges[from]!
      from++
      ids[to++] = id
    }
    left = to
    rank = best
  }
  return left
}

function lowest(merges: Int32Array, count: number): number {
  let best = NO_MERGE
  for (let i = 0; i < count; i++) if (merges[i]! < best) best = merges[i]!
  return best
}
