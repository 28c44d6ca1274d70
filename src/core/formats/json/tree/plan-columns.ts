import { typedText } from '../../../base/typed-text.ts'
import { DIGIT_0, DIGIT_9 } from '../../../json/char-codes.ts'
import { equalValues, ObjectValue, type Value } from '../../../json/value.ts'
import { priceOfUse } from '../../../reading/price.ts'
import type { Column } from './column.ts'
import { mergeKeyOrders } from './key-order.ts'
import { commonAffixes } from './pattern-runs.ts'
import type { Pricer } from './pricer.ts'
import { constructOf } from './uses.ts'

/**
 * Cells allowed for each member that is there. Beyond it a table of mostly empty cells cannot be
 * smaller than JSON, and rows with keys of their own would make its size quadratic.
 */
const MAX_CELLS_PER_MEMBER = 6

/** Values of a column on which a pattern is tried. */
const PATTERN_SAMPLE = 24

/**
 * The columns of a table with these rows, or `null` if their keys have no common order or too few
 * cells would be filled.
 * @param slots rows of the whole table: a group has a cell in each, also if its object is missing
 */
export function planColumns(
  rows: readonly ObjectValue[],
  pricer: Pricer,
  slots = rows.length,
): Column[] | null {
  const order = mergeKeyOrders(rows, (names, members) => isFilled(names, slots, members))
  if (order === null || !isFilled(order.names.length, slots, order.members)) return null
  const { names } = order
  const valuesOf = gather(rows, names)
  return names.map((name, i) => planColumn(name, valuesOf[i]!, rows.length, slots, pricer))
}

/** Whether so many columns and rows hold enough members to be a table. */
export function isFilled(columns: number, rows: number, members: number): boolean {
  return columns > 0 && columns * rows <= MAX_CELLS_PER_MEMBER * members
}

/** The values of each column, those that are there, from the first row to the last. */
function gather(rows: readonly ObjectValue[], names: readonly string[]): Value[][] {
  // These are the keys of all rows.
  if (names === rows[0]!.keys) return names.map((_, i) => rows.map(({ values }) => values[i]!))
  const valuesOf: Value[][] = names.map(() => [])
  const indexes = new Map(names.map((name, i) => [name, i]))
  let lastKeys: readonly string[] = []
  let slots: number[] = []
  for (const { keys, values } of rows) {
    if (keys !== lastKeys) {
      lastKeys = keys
      slots = keys.map(key => indexes.get(key)!)
    }
    for (let i = 0; i < values.length; i++) valuesOf[slots[i]!]!.push(values[i]!)
  }
  return valuesOf
}

function planColumn(
  name: string,
  values: readonly Value[],
  rows: number,
  slots: number,
  pricer: Pricer,
): Column {
  const [first] = values
  if (values.length === rows && rows > 1 && isConstant(values)) {
    return { kind: 'constant', name, value: first! }
  }
  return (
    planGroup(name, values, slots, pricer) ??
    planRows(name, values, pricer) ??
    planPattern(name, values, pricer) ?? { kind: 'cell', name }
  )
}

function isConstant(values: readonly Value[]): boolean {
  const [first] = values
  return values.every(value => value === first || equalValues(value, first!))
}

function planGroup(
  name: string,
  values: readonly Value[],
  slots: number,
  pricer: Pricer,
): Column | null {
  if (!values.every(value => value === null || value instanceof ObjectValue)) return null
  const objects = values.filter(value => value instanceof ObjectValue)
  if (objects.length === 0) return null
  const columns = planColumns(objects, pricer, slots)
  return columns !== null && canShow(objects, columns, true)
    ? { kind: 'group', name, columns }
    : null
}

function planRows(name: string, values: readonly Value[], pricer: Pricer): Column | null {
  const rows: ObjectValue[] = []
  for (const value of values) {
    if (value === null) continue
    if (!Array.isArray(value)) return null
    for (const item of value) {
      if (!(item instanceof ObjectValue)) return null
      rows.push(item)
    }
  }
  if (rows.length < 2) return null
  const columns = planColumns(rows, pricer)
  return columns !== null && canShow(rows, columns, false) ? { kind: 'rows', name, columns } : null
}

/**
 * Whether each object fills a cell of its own. Without one it would be read as missing. If `null`
 * may represent the object, one that fills only the first cell, with `null`, would be read as
 * `null`.
 */
function canShow(
  objects: readonly ObjectValue[],
  columns: readonly Column[],
  nullable: boolean,
): boolean {
  let constants = 0
  for (const column of columns) if (column.kind === 'constant') constants++
  const first = columns.find(column => column.kind !== 'constant')?.name
  return objects.every(({ keys, values }) => {
    const shown = keys.length - constants
    if (shown !== 1 || !nullable) return shown > 0
    const at = keys.indexOf(first!)
    return at === -1 || values[at] !== null
  })
}

function planPattern(name: string, values: readonly Value[], pricer: Pricer): Column | null {
  const texts: string[] = []
  for (const value of values) {
    if (typeof value === 'string') texts.push(value)
    else if (value !== null) return null
  }
  return patternOf(name, texts, pricer)
}

/**
 * The column of these strings with their common prefix and suffix stated once, if that saves
 * tokens.
 */
export function patternOf(name: string, texts: readonly string[], pricer: Pricer): Column | null {
  if (texts.length < 2) return null
  const affixes = commonAffixes(texts)
  if (affixes === null) return null
  const { prefix, suffix } = affixes
  const step = Math.max(1, Math.floor(texts.length / PATTERN_SAMPLE))
  let whole = ''
  let rest = ''
  let sampled = 0
  for (let i = 0; i < texts.length && sampled < PATTERN_SAMPLE; i += step) {
    const text = texts[i]!
    whole += `,${text}`
    rest += `,${text.slice(prefix.length, text.length - suffix.length)}`
    sampled++
  }
  const saved = ((pricer.tokens(whole) - pricer.tokens(rest)) / sampled) * texts.length
  const net = saved - pricer.tokens(`=${prefix}*${suffix}`)
  if (net <= 0) return null
  const leavesNumbers = texts.some(text => isNumber(text, prefix.length, suffix.length))
  const price = priceOfUse(pricer.style.reading, constructOf(leavesNumbers))
  return net > price ? { kind: 'pattern', name, prefix, suffix, leavesNumbers } : null
}

/** Whether digits alone, at least one, are between so many characters of both ends. */
function isNumber(string: string, before: number, after: number): boolean {
  const text = typedText(string)
  const end = text.length - after
  for (let at = before; at < end; at++) {
    const c = text.charCodeAt(at)
    if (c < DIGIT_0 || c > DIGIT_9) return false
  }
  return end > before
}
