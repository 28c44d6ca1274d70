import { AppError } from '../../base/errors.ts'
import { decodedTooLong, notDecodable } from '../../formats/not-decodable.ts'
import { parseHint } from '../../hints/hint-line.ts'
import { parseJson } from '../../json/parse-json.ts'
import { equalValues, ObjectValue, type Value } from '../../json/value.ts'
import { jsonLength, writeJson } from '../../json/write-json.ts'
import type { ChangeList, Path, RowsChange, ScalarValue } from './change-list.ts'
import { readChanges } from './change-text.ts'

/** A result of the same call as an earlier whole one, as what changed since. */
export const CHANGES_FORMAT = 'changes@1'

/** The gate: the text as it is sent, and the earlier one, must give the very value again. */
export function isOfChanges(written: string, earlier: string, value: Value): boolean {
  try {
    return equalValues(
      valueIn(written, () => earlier),
      value,
    )
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

/** @throws AppError `not_decodable` */
function valueIn(content: string, resolve: (ref: string) => string | undefined): Value {
  const ref = refOfChanges(content)
  const changes = ref === undefined ? null : readChanges(content.slice(content.indexOf('\n') + 1))
  if (ref === undefined || changes === null) throw notDecodable(content, 0, 'changes expected')
  const earlier = resolve(ref)
  if (earlier === undefined) throw notDecodable(content, 0, `no earlier result ${ref}`)
  return applyChanges(earlier, changes)
}

/** The id of the earlier result that such a text begins with; `undefined` if it does not. */
export function refOfChanges(content: string): string | undefined {
  const end = content.indexOf('\n')
  const hint = end === -1 ? null : parseHint(content.slice(0, end))
  return hint?.family === 'near_reference' && hint.changes.length === 0 ? hint.ref : undefined
}

/**
 * The JSON that such a text represents, compact.
 * @throws AppError `not_decodable`, `payload_too_large`
 */
export function decodeChanges(
  content: string,
  resolve: (ref: string) => string | undefined,
  maxChars: number,
): string {
  const value = valueIn(content, resolve)
  if (jsonLength(value, maxChars) > maxChars) throw decodedTooLong(maxChars)
  return writeJson(value)
}

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
