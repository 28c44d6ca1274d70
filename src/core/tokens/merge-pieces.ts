/**
 * How many tokens a piece becomes that is not a token itself: byte pair merges, lowest rank first.
 * Short pieces by a scan over few parts; long ones in windows, with a heap if windows do not fit
 * together. Linear except for the logarithm of a window's length.
 *
 * Windows are exact if each two neighbouring tokens stay separate when the two are merged alone:
 * the first merge that crosses a boundary in the whole piece would also cross it in those two.
 * Neighbours of one window stay separate. Where two windows meet, this is checked.
 */
import { BLOCK_PARTS, mergeInBlocks } from './merge-blocks.ts'
import { createHeapRoom, type HeapRoom, mergeWithHeap } from './merge-heap.ts'
import { mergedId, NO_MERGE, type PairTable } from './pair-table.ts'
import type { OpenVocabulary } from './vocabulary.ts'

/** Passes over a window's parts before a heap is taken instead. */
const ROUNDS = 12

interface WindowSize {
  readonly bytes: number
  /**
   * Tokens that end this close to the window's end are not taken from it, because later bytes may
   * change them.
   */
  readonly margin: number
}

/** Tried in this order; the larger one is for tokens that do not fit the smaller. */
const WINDOWS: readonly WindowSize[] = [
  { bytes: BLOCK_PARTS, margin: 16 },
  { bytes: 1024, margin: 192 },
]

/**
 * Counts the tokens of single pieces; keeps its working memory, so one for each thread and
 * encoding.
 */
export interface PieceMerger {
  /** Tokens of `bytes[start .. end)` by merges alone. */
  count(bytes: Uint8Array, start: number, end: number): number
  /** Their ids, valid until the next call. */
  ids(bytes: Uint8Array, start: number, end: number): Int32Array
  /** Pieces so far for which a window size did not do, by size: for tests of linear work. */
  readonly retries: Int32Array
}

/** A merger over an opened vocabulary. */
export function createPieceMerger(vocabulary: OpenVocabulary): PieceMerger {
  const { bytePairs, byteIds, tokenStarts } = vocabulary
  const retries = new Int32Array(WINDOWS.length)
  let room: HeapRoom = createHeapRoom(1024)

  /** Merges into `room.ids`; the number of parts. */
  function merge(bytes: Uint8Array, start: number, end: number): number {
    const length = end - start
    if (room.ids.length < length) room = createHeapRoom(length)
    const { ids, merges } = room
    for (let i = 0; i < length; i++) ids[i] = byteIds[bytes[start + i]!]!
    let repeats = 0
    for (let i = 0; i + 1 < length; i++) {
      const byte = bytes[start + i]!
      const next = bytes[start + i + 1]!
      merges[i] = bytePairs[(byte << 8) | next]!
      if (byte === next) repeats++
    }
    if (length <= BLOCK_PARTS && repeats * 2 < length)
      return mergeInBlocks(vocabulary, room, length)
    const left = mergeInRounds(vocabulary, ids, merges, length, length * ROUNDS)
    return left > 0 ? left : mergeWithHeap(vocabulary, room, -left)
  }

  /** Whether merges leave exactly two tokens that meet at `middle`. */
  function staySeparate(bytes: Uint8Array, start: number, middle: number, end: number): boolean {
    const first = room.ids[0]!
    const left = merge(bytes, start, end)
    const separate = left === 2 && lengthOf(room.ids[0]!) === middle - start
    room.ids[0] = first
    return separate
  }

  function lengthOf(id: number): number {
    return tokenStarts[id + 1]! - tokenStarts[id]!
  }

  /**
   * Merges window by window, each starting after the last token that was taken from the one before.
   * The tokens are those of the whole piece if every two neighbours stay separate when merged by
   * themselves, which those from one window do. -1 if two do not.
   */
  function countInWindows(
    bytes: Uint8Array,
    start: number,
    end: number,
    { bytes: windowBytes, margin }: WindowSize,
  ): number {
    let total = 0
    let at = start
    let before = -1
    let expected = -1
    for (;;) {
      const windowEnd = Math.min(at + windowBytes, end)
      let left = merge(bytes, at, windowEnd)
      const { ids } = room
      if (before >= 0 && ids[0] !== expected) {
        if (!staySeparate(bytes, before, at, at + lengthOf(ids[0]!))) return -1
        left = merge(bytes, at, windowEnd)
      }
      if (windowEnd === end) return total + left
      let taken = 0
      for (;;) {
        const next = at + lengthOf(ids[taken]!)
        if (next > windowEnd - margin) break
        before = at
        at = next
        taken++
      }
      if (taken === 0) return -1
      expected = ids[taken]!
      total += taken
    }
  }

  return {
    retries,
    ids(bytes, start, end) {
      const left = merge(bytes, start, end)
      return room.ids.subarray(0, left)
    },
    count(bytes, start, end) {
      const length = end - start
      if (length <= BLOCK_PARTS) return merge(bytes, start, end)
      for (const [i, size] of WINDOWS.entries()) {
        if (length < size.bytes * 2) break
        const total = countInWindows(bytes, start, end, size)
        if (total >= 0) return total
        retries[i]!++
      }
      const total = merge(bytes, start, end)
      if (length > KEPT_PARTS) room = createHeapRoom(1024)
      return total
    },
  }
}

/** Working memory for more parts than this is given back. */
const KEPT_PARTS = 1 << 16

/**
 * Byte pair merges of few or repetitive parts: one pass over all parts for each rank. Merges `ids[0
 * .. count)` in place. `merges[i]` is what parts `i` and `i + 1` merge to, or NO_MERGE. Every pair
 * of the lowest rank is merged in one pass, left to right: no merge makes a pair of a lower rank
 * than its own, as packing has checked that tokens are made of earlier ones only. A run of one
 * letter takes a few passes.
 * @param work parts to visit before giving up
 * @returns how many parts are left; their negative count if `work` was used up before the end
 */
function mergeInRounds(
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
