import type { Value } from '../../../json/value.ts'

/** One cell a row, any value in it. */
export interface CellColumn {
  readonly kind: 'cell'
  readonly name: string
}

/** No cell: every row has this value. */
export interface ConstantColumn {
  readonly kind: 'constant'
  readonly name: string
  readonly value: Value
}

/** One cell a row, a string between a prefix and a suffix that every row has; or `null`. */
export interface PatternColumn {
  readonly kind: 'pattern'
  readonly name: string
  readonly prefix: string
  readonly suffix: string
  /** Whether digits alone are left of a string; absent where this does not matter. */
  readonly leavesNumbers?: boolean
}

/** An object in every row: the cells of its members; or `null`, or nothing. */
export interface GroupColumn {
  readonly kind: 'group'
  readonly name: string
  readonly columns: readonly Column[]
}

/** An array of objects in every row: one cell with rows of its own. */
export interface RowsColumn {
  readonly kind: 'rows'
  readonly name: string
  readonly columns: readonly Column[]
}

export type Column = CellColumn | ConstantColumn | PatternColumn | GroupColumn | RowsColumn

/** A column that is one cell of its row. */
export type Leaf = CellColumn | PatternColumn | RowsColumn
