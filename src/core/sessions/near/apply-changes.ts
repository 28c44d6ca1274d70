import { AppError } from '../../base/errors.ts'
import { parseJson } from '../../json/parse-json.ts'
import { equalValues, ObjectValue, type Value } from '../../json/value.ts'
import type { ChangeList, Path, RowsChange, ScalarValue } from './change-list.ts'

/**
 * The value that a list of changes represents: the earlier JSON with these scalars in place of the
 * old ones. Linear.
 * @throws AppError `not_decodable` if the earlier value has no such places
 */
export function applyChanges(earlier: string, changes: ChangeList): Value {
  const parsed = parseJson(earlier)
  if (!parsed.ok) throw nowhere()
  // The value was just parsed, so nothing else has it.
  const whole: Mutable[] = [parsed.value as Mutable]
  const root: Path = [0]
  for (const change of changes) {
    if (change.kind === 'rows') applyRows(at(whole, [...root, ...change.path]), change)
    else put(whole, [...root, ...change.path], change.value)
  }
  return whole[0] as Value
}

/** A value of which the members can be replaced. */
type Mutable = Value | Mutable[]

function applyRows(table: Mutable, { of, columns, rows }: RowsChange): void {
  const [name, ...changed] = columns
  if (!Array.isArray(table) || table.length !== of || name === undefined) throw nowhere()
  let next = 0
  for (const row of rows) {
    const [key, ...cells] = row
    // Rows are listed in the order of the table.
    while (next < table.length && !isNamed(table[next] as Value, name, key!)) next++
    if (next === table.length) throw nowhere()
    for (const [column, cell] of cells.entries())
      put(table[next] as Mutable, [changed[column]!], cell)
    next++
  }
}

function isNamed(row: Value, name: string, key: ScalarValue): boolean {
  if (!(row instanceof ObjectValue)) return false
  const value = row.values[row.keys.indexOf(name)]
  return value !== undefined && equalValues(value, key)
}

function put(value: Mutable, path: Path, scalar: ScalarValue): void {
  const holder = at(value, path.slice(0, -1))
  const step = path.at(-1)!
  const members = membersOf(holder, step)
  const index = indexOf(holder, step)
  if (index === -1 || members[index] === undefined) throw nowhere()
  members[index] = scalar
}

function at(value: Mutable, path: Path): Mutable {
  let inner = value
  for (const step of path) {
    const next = membersOf(inner, step)[indexOf(inner, step)]
    if (next === undefined) throw nowhere()
    inner = next
  }
  return inner
}

function membersOf(holder: Mutable, step: string | number): Mutable[] {
  if (typeof step === 'number' && Array.isArray(holder)) return holder as Mutable[]
  if (typeof step === 'string' && holder instanceof ObjectValue) return holder.values as Mutable[]
  throw nowhere()
}

function indexOf(holder: Mutable, step: string | number): number {
  return typeof step === 'number' ? step : (holder as ObjectValue).keys.indexOf(step)
}

function nowhere(): AppError {
  return new AppError('not_decodable', 'the earlier result has no such value at a changed place')
}
