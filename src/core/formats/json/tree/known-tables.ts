import { ObjectValue, type Value } from '../../../json/value.ts'
import type { Column } from './column.ts'
import type { ShapeWriter } from './pricer.ts'
import type { Table } from './table.ts'

interface KnownTable {
  readonly table: Table
  readonly columns: readonly Column[]
  readonly rows: readonly ObjectValue[]
}

/**
 * The tables of a document as they are written without shapes. With shapes most of them are the
 * same, since only objects in cells have one.
 */
export class KnownTables {
  /** `null` if a value is never a table, whatever the shapes. */
  readonly #tables = new Map<Value, KnownTable | null>()

  /** Keeps the table of a list, or of an object that is a keyed table. */
  keep(value: Value, known: KnownTable): void {
    this.#tables.set(value, known)
  }

  /** Keeps that the rows of a value have no columns in common. */
  keepNone(value: Value): void {
    this.#tables.set(value, null)
  }

  /** The table with these shapes; `undefined` if it must be written. */
  find(value: Value, shapes: ShapeWriter): Table | null | undefined {
    const known = this.#tables.get(value)
    if (known === undefined || known === null) return known
    const { table, columns, rows } = known
    return rows.some(row => hasShape(columns, row, shapes)) ? undefined : table
  }
}

/** Whether a shape may be in a cell of the object. Recursion is as deep as the columns. */
function hasShape(
  columns: readonly Column[],
  { keys, values }: ObjectValue,
  shapes: ShapeWriter,
): boolean {
  let at = 0
  for (const column of columns) {
    const value = keys[at] === column.name ? values[at++] : undefined
    if (typeof value !== 'object' || value === null || column.kind === 'constant') continue
    if (column.kind === 'group') {
      if (value instanceof ObjectValue && hasShape(column.columns, value, shapes)) return true
    } else if (column.kind === 'rows') {
      const rows = value as readonly ObjectValue[]
      if (rows.some(row => hasShape(column.columns, row, shapes))) return true
    } else if (shapes.reaches(value)) return true
  }
  return false
}
