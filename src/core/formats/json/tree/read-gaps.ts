import { COMMA, SPACE } from '../../../json/char-codes.ts'
import { firstLeaf, type Gap, leavesOf } from './cell-gaps.ts'
import type { Column, Leaf } from './column.ts'
import { type Ends, endsOf, type Reader } from './reader.ts'

/** The gaps of columns that were read, if they are no spaces. */
const gapsBefore = new WeakMap<Leaf, Gap>()

/** Notes what stands before a column in its header. */
export function noteGap(column: Column, gap: Gap): void {
  const leaf = firstLeaf(column)
  if (leaf !== null) gapsBefore.set(leaf, gap)
}

/** Moves over what separates two columns of a header; `null` if there is no further one. */
export function readGap(reader: Reader, separator: number): Gap | null {
  if (reader.skip(separator)) {
    if (separator !== SPACE) reader.skip(SPACE)
    return ' '
  }
  if (separator !== SPACE || !reader.skip(COMMA)) return null
  return reader.skip(SPACE) ? ', ' : ','
}

/** What separates a cell from those beside it. */
export interface CellEnds {
  /** Absent if it is the separator, and perhaps a space. */
  readonly before?: Gap
  /** The code unit after it; -1 if it has the rest of its line. */
  readonly end: number
  /** The ends of a bare text in it. */
  readonly ends: Ends
}

const AT_SPACE = endsOf(SPACE)
const AT_COMMA = endsOf(COMMA)
const AT_LINE_END = endsOf()

/** The ends of the cells of a table whose separator is a space. */
export function cellEndsOf(columns: readonly Column[]): ReadonlyMap<Leaf, CellEnds> {
  const leaves = leavesOf(columns)
  const all = new Map<Leaf, CellEnds>()
  for (const [i, leaf] of leaves.entries()) {
    const before = gapsBefore.get(leaf) ?? ' '
    const next = leaves[i + 1]
    if (next === undefined) all.set(leaf, { before, end: -1, ends: AT_LINE_END })
    else if (gapsBefore.has(next)) all.set(leaf, { before, end: COMMA, ends: AT_COMMA })
    else all.set(leaf, { before, end: SPACE, ends: AT_SPACE })
  }
  return all
}
