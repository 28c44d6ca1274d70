import type { Column, Leaf } from './column.ts'
import { NOT_IN_LINE, notInCell } from './syntax.ts'

/**
 * What separates the cells of a table whose separator is a space: a space, or a comma after columns
 * of phrases, so that these need no quotes.
 */
export type Gap = ' ' | ',' | ', '

/** The gaps of a table, and what they allow its bare strings to contain. */
export interface Gaps {
  /** The gap before a cell that is not the first. */
  before(this: void, leaf: Leaf): Gap
  /** Bits that a bare string in the cell must not have: those of the gap that ends it. */
  notIn(this: void, leaf: Leaf): number
}

/** Of a table in which each gap is a space. */
export const NO_GAPS: ReadonlyMap<Leaf, Gap> = new Map()

/** The columns that are cells, from the first of a row to the last. */
export function leavesOf(columns: readonly Column[]): readonly Leaf[] {
  return columns.flatMap((column): readonly Leaf[] => {
    if (column.kind === 'constant') return []
    return column.kind === 'group' ? leavesOf(column.columns) : [column]
  })
}

/** The column that is a cell, if a column begins with one; `null` if it begins with a constant. */
export function firstLeaf(column: Column): Leaf | null {
  if (column.kind === 'constant') return null
  return column.kind === 'group' ? firstLeaf(column.columns[0]!) : column
}

/** @param gaps those that are no space, by the column that they precede */
export function createGaps(columns: readonly Column[], gaps: ReadonlyMap<Leaf, Gap>): Gaps {
  const not = new Map<Leaf, number>()
  const leaves = leavesOf(columns)
  for (const [i, leaf] of leaves.entries()) {
    const next = leaves[i + 1]
    // The last cell has the rest of its line.
    if (next === undefined) not.set(leaf, NOT_IN_LINE)
    else not.set(leaf, notInCell(gaps.has(next) ? ',' : ' '))
  }
  return { before: leaf => gaps.get(leaf) ?? ' ', notIn: leaf => not.get(leaf)! }
}
