import type { NumberLiteral } from '../../json/value.ts'

/** What changed in a JSON value: scalars, and rows of tables. */
export type ChangeList = readonly (ScalarChange | RowsChange)[]

/** Keys and indices from the outermost value on. */
export type Path = readonly (string | number)[]

export type ScalarValue = null | boolean | number | NumberLiteral | string

export interface ScalarChange {
  readonly kind: 'scalar'
  readonly path: Path
  /** What it is now. */
  readonly value: ScalarValue
}

export interface RowsChange {
  readonly kind: 'rows'
  /** The place of the table. */
  readonly path: Path
  /** How many rows it has. */
  readonly of: number
  /** The column that names rows, and those of which a cell changed. */
  readonly columns: readonly string[]
  /** The changed rows, each with the cells of these columns as they are now. */
  readonly rows: readonly (readonly ScalarValue[])[]
}
