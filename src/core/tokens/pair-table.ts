/**
 * Merges as a table from (left id, right id) to the id of the merged token. tiktoken looks merges
 * up by the bytes of both sides; that is the same, with one entry a token: byte pair encoding is
 * local. As long as no merge has crossed the ends of a stretch, it is merged as if it were the
 * whole text. So when a token's bytes have been merged down to two parts, these are always the same
 * two.
 */
import { EMPTY, ID_BITS, ID_MASK, MERGED_LOW_BITS, MERGED_LOW_MASK } from './vocabulary.ts'

/** The result of `mergedId` if the pair does not merge; larger than every id. */
export const NO_MERGE = 0x7fffffff

/**
 * The table and, before it, a filter that fits a processor's cache: most pairs asked for do not
 * merge.
 */
export interface PairTable {
  readonly pairs: Int32Array
  /** Bits, by the pair's hash: set if some pair with this hash merges. */
  readonly pairFilter: Int32Array
}

function hashOf(left: number, right: number): number {
  const sum = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca77)
  return Math.imul(sum ^ (sum >>> 15), 0x2c1b3c6d)
}

/**
 * Id of the token that `left` and `right` merge to, or NO_MERGE. Ids are ranks: smaller merges
 * first.
 */
export function mergedId(table: PairTable, left: number, right: number): number {
  const { pairs, pairFilter } = table
  const hash = hashOf(left, right)
  const bit = hash & ((pairFilter.length << 5) - 1)
  if (((pairFilter[bit >> 5]! >>> (bit & 31)) & 1) === 0) return NO_MERGE
  const mask = (pairs.length >> 1) - 1
  let slot = (hash >>> 12) & mask
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
export function addPair(table: PairTable, left: number, right: number, merged: number): void {
  const { pairs, pairFilter } = table
  const hash = hashOf(left, right)
  const bit = hash & ((pairFilter.length << 5) - 1)
  pairFilter[bit >> 5]! |= 1 << (bit & 31)
  const mask = (pairs.length >> 1) - 1
  let slot = (hash >>> 12) & mask
  while (pairs[slot * 2] !== EMPTY) slot = (slot + 1) & mask
  pairs[slot * 2] = left | ((merged & MERGED_LOW_MASK) << ID_BITS)
  pairs[slot * 2 + 1] = right | ((merged >>> MERGED_LOW_BITS) << ID_BITS)
}
