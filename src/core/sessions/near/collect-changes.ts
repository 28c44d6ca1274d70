import { equalValues, NumberLiteral, ObjectValue, type Value } from '../../json/value.ts'
import type { ChangeList, Path, RowsChange, ScalarChange, ScalarValue } from './change-list.ts'
import { writeCell } from './change-text.ts'

/** Values that are nested deeper must be equal, since their paths would be too long. */
const MAX_DEPTH = 32

/**
 * What is another scalar in `now`. Returns `null` if anything else differs: keys, their order,
 * lengths, or a scalar that is a list or object now. Linear.
 */
export function collectChanges(before: Value, now: Value): ChangeList | null {
  const changes: (ScalarChange | RowsChange)[] = []
  return compare(before, now, [], changes) ? changes : null
}

type FoundChanges = (ScalarChange | RowsChange)[]

/** Adds to `found`; `false` if the values cannot be compared. */
function compare(before: Value, now: Value, path: Path, found: FoundChanges): boolean {
  if (isScalar(before) && isScalar(now)) {
    if (!equalValues(before, now)) found.push({ kind: 'scalar', path, value: now })
    return true
  }
  if (path.length === MAX_DEPTH) return equalValues(before, now)
  if (before instanceof ObjectValue && now instanceof ObjectValue) {
    return compareMembers(before, now, path, found)
  }
  if (!Array.isArray(before) || !Array.isArray(now)) return false
  return compareItems(before, now, path, found)
}

function compareMembers(
  before: ObjectValue,
  now: ObjectValue,
  path: Path,
  found: FoundChanges,
): boolean {
  const { keys } = now
  if (!haveSameKeys(before, now)) return false
  const earlier = found.length
  for (const [at, key] of keys.entries()) {
    const [old, value] = [before.values[at]!, now.values[at]!]
    if (isSameScalar(old, value)) continue
    if (!compare(old, value, [...path, key], found)) return false
  }
  return found.length === earlier || areDistinct(keys)
}

function compareItems(
  before: readonly Value[],
  now: readonly Value[],
  path: Path,
  found: FoundChanges,
): boolean {
  if (before.length !== now.length) return false
  const table = tableOf(before, now)
  if (table === null) {
    return now.every((item, at) => {
      return isSameScalar(before[at]!, item) || compare(before[at]!, item, [...path, at], found)
    })
  }
  const cells: ChangedCell[] = []
  for (const [row, { values }] of table.now.entries()) {
    for (const [column, value] of values.entries()) {
      const old = table.before[row]!.values[column]!
      if (isScalar(old) && isScalar(value)) {
        if (!equalValues(old, value)) cells.push({ row, column, value })
      } else if (!compare(old, value, [...path, row, table.keys[column]!], found)) return false
    }
  }
  if (cells.length > 0) for (const each of listCells(table, cells, path)) found.push(each)
  return true
}

/** Rows of objects with the same keys, which are all different. */
interface Table {
  readonly keys: readonly string[]
  readonly before: readonly ObjectValue[]
  readonly now: readonly ObjectValue[]
}

function tableOf(before: readonly Value[], now: readonly Value[]): Table | null {
  const [first] = now
  if (now.length < 2 || !(first instanceof ObjectValue) || !areDistinct(first.keys)) return null
  const isRow = (row: Value) => row instanceof ObjectValue && haveSameKeys(row, first)
  if (!before.every(isRow) || !now.every(isRow)) return null
  return {
    keys: first.keys,
    before: before as readonly ObjectValue[],
    now: now as readonly ObjectValue[],
  }
}

/** A scalar that changed in a table. */
interface ChangedCell {
  readonly row: number
  readonly column: number
  readonly value: ScalarValue
}

/** As rows, if a column names them and all cells to show are scalars; else one by one. */
function listCells(table: Table, cells: readonly ChangedCell[], path: Path): FoundChanges {
  const changed = new Set(cells.map(({ column }) => column))
  const name = namingColumn(table, changed)
  const columns = [...changed].sort((a, b) => a - b)
  const rows = [...new Set(cells.map(({ row }) => row))]
  const shown = rows.map(row => [name, ...columns].map(column => table.now[row]!.values[column]!))
  if (name === -1 || !shown.every(row => row.every(isScalar))) {
    return cells.map(({ row, column, value }) => {
      return { kind: 'scalar', path: [...path, row, table.keys[column]!], value }
    })
  }
  return [
    {
      kind: 'rows',
      path,
      of: table.now.length,
      columns: [name, ...columns].map(column => table.keys[column]!),
      rows: shown as ScalarValue[][],
    },
  ]
}

/**
 * The first column whose cells are all different, and as they were; -1 if there is none. Numbers of
 * another spelling are not different: readers take them for the same.
 */
function namingColumn({ keys, now }: Table, changed: ReadonlySet<number>): number {
  return keys.findIndex((_, column) => {
    if (changed.has(column)) return false
    const names = new Set<string>()
    for (const { values } of now) {
      const name = values[column]!
      if (!isScalar(name) || name === null || typeof name === 'boolean') return false
      const cell = writeCell(name)
      names.add(typeof name === 'string' ? cell : String(Number(cell)))
    }
    return names.size === now.length
  })
}

function haveSameKeys({ keys }: ObjectValue, other: ObjectValue): boolean {
  if (keys === other.keys) return true
  return keys.length === other.keys.length && keys.every((key, at) => key === other.keys[at])
}

function areDistinct(keys: readonly string[]): boolean {
  return new Set(keys).size === keys.length
}

/** Whether both are the same scalar; of most values this is all that has to be known. */
function isSameScalar(a: Value, b: Value): boolean {
  return a === b && (a === null || typeof a !== 'object')
}

function isScalar(value: Value): value is ScalarValue {
  return value === null || typeof value !== 'object' || value instanceof NumberLiteral
}
