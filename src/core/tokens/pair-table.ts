/**
 * Merges as a table from (left id, right id) to the id of the merged token. tiktoken looks merges up by the
 * bytes of both sides; that is the same, with one entry a token: byte pair encoding is local, so when a token's
 * bytes have been merged down to two parts, these are always the same two (see docs/tokens.md, "Merges").
 */
import { EMPTY, ID_BITS, ID_MASK, MERGED_LOW_BITS, MERGED_LOW_MASK } from './vocabulary.ts'

/** What `mergedId` answers where the pair does not merge; larger than every id. */
export const NO_MERGE = 0x7fffffff

function slotOf(left: number, right: number, mask: number): number {
  const hash = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca77)
  return (hash ^ (hash >>> 15)) & mask
}

/** Id of the token that `left` and `right` merge to, or NO_MERGE. Ids are ranks: smaller merges first. */
export function mergedId(pairs: Int32Array, left: number, right: number): number {
  const mask = (pairs.length >> 1) - 1
  let slot = slotOf(left, right, mask)
  for (;;) {
    const low = pairs[slot * 2]!
    if (low === EMPTY) return NO_MERGE
    if ((low & ID_MASK) === left) {
      const high = pairs[slot * 2 + 1]!
      if ((high & ID_MASK) === right) {
        return (low >>> ID_BITS) | ((high >>> ID_BITS) << MERGED_LOW_BITS)
      }
    }
    slot = (slot + 1) & mask
  }
}

/** Adds a pair that is not in the table yet. */
export function addPair(pairs: Int32Array, left: number, right: number, merged: number): void {
  const mask = (pairs.length >> 1) - 1
  let slot = slotOf(left, right, mask)
  while (pairs[slot * 2] !== EMPTY) slot = (slot + 1) & mask
  pairs[slot * 2] = left | ((merged & MERGED_LOW_MASK) << ID_BITS)
  pairs[slot * 2 + 1] = right | ((merged >>> MERGED_LOW_BITS) << ID_BITS)
}
