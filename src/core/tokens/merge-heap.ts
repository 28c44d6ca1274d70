/**
 * Byte pair merges of many parts in O(n log n): a linked list of parts and a heap of candidate
 * merges.
 */
import { mergedId, NO_MERGE, type PairTable } from './pair-table.ts'

/** Room for merging up to `capacity` parts; kept and reused by its owner. */
export interface HeapRoom {
  readonly ids: Int32Array
  /** What each part and the next merge to: for `mergeInRounds`. */
  readonly merges: Int32Array
  readonly next: Int32Array
  readonly previous: Int32Array
  /** Heap of (rank, position) in two arrays; at most three candidates a part are ever pushed. */
  readonly ranks: Int32Array
  readonly positions: Int32Array
}

export function createHeapRoom(capacity: number): HeapRoom {
  return {
    ids: new Int32Array(capacity),
    merges: new Int32Array(capacity),
    next: new Int32Array(capacity),
    previous: new Int32Array(capacity),
    ranks: new Int32Array(capacity * 3),
    positions: new Int32Array(capacity * 3),
  }
}

/**
 * Merges `room.ids[0 .. count)` as far as they go, lowest rank first, leftmost first among equals.
 * The parts left are moved to the front of `room.ids`.
 * @returns how many parts are left
 */
export function mergeWithHeap(table: PairTable, room: HeapRoom, count: number): number {
  const { ids, next, previous, ranks, positions } = room
  let size = 0
  for (let i = 0; i < count; i++) {
    next[i] = i + 1
    previous[i] = i - 1
    if (i + 1 === count) break
    const rank = mergedId(table, ids[i]!, ids[i + 1]!)
    if (rank !== NO_MERGE) {
      ranks[size] = rank
      positions[size++] = i
    }
  }
  for (let i = (size >> 1) - 1; i >= 0; i--) siftDown(ranks, positions, i, size)
  let left = count
  while (size > 0) {
    const rank = ranks[0]!
    const at = positions[0]!
    size--
    if (size > 0) {
      ranks[0] = ranks[size]!
      positions[0] = positions[size]!
      siftDown(ranks, positions, 0, size)
    }
    // A candidate is out of date if its left part is gone, or if either part has changed since.
    const right = next[at]!
    if (ids[at]! < 0 || right >= count) continue
    if (mergedId(table, ids[at]!, ids[right]!) !== rank) continue
    ids[at] = rank
    ids[right] = GONE
    const after = next[right]!
    next[at] = after
    left--
    if (after < count) {
      previous[after] = at
      const candidate = mergedId(table, rank, ids[after]!)
      if (candidate !== NO_MERGE) push(ranks, positions, size++, candidate, at)
    }
    const before = previous[at]!
    if (before >= 0) {
      const candidate = mergedId(table, ids[before]!, rank)
      if (candidate !== NO_MERGE) push(ranks, positions, size++, candidate, before)
    }
  }
  for (let i = 0, out = 0; i < count; i = next[i]!) ids[out++] = ids[i]!
  return left
}

const GONE = -1

function push(
  ranks: Int32Array,
  positions: Int32Array,
  size: number,
  rank: number,
  position: number,
): void {
  let hole = size
  while (hole > 0) {
    const parent = (hole - 1) >> 1
    if (!isBefore(rank, position, ranks[parent]!, positions[parent]!)) break
    ranks[hole] = ranks[parent]!
    positions[hole] = positions[parent]!
    hole = parent
  }
  ranks[hole] = rank
  positions[hole] = position
}

function siftDown(ranks: Int32Array, positions: Int32Array, from: number, size: number): void {
  const rank = ranks[from]!
  const position = positions[from]!
  let hole = from
  for (;;) {
    let child = hole * 2 + 1
    if (child >= size) break
    const other = child + 1
    if (
      other < size &&
      isBefore(ranks[other]!, positions[other]!, ranks[child]!, positions[child]!)
    ) {
      child = other
    }
    if (!isBefore(ranks[child]!, positions[child]!, rank, position)) break
    ranks[hole] = ranks[child]!
    positions[hole] = positions[child]!
    hole = child
  }
  ranks[hole] = rank
  positions[hole] = position
}

function isBefore(rank: number, position: number, other: number, otherPosition: number): boolean {
  return rank < other || (rank === other && position < otherPosition)
}
