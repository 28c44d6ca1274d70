import { keyStability } from '../../../classify/json-shape.ts'
import { ObjectValue, type Value } from '../../../json/value.ts'
import type { Uses } from '../../../reading/constructs.ts'
import { isPriced, priceOfUse } from '../../../reading/price.ts'
import { Gap } from '../../gaps.ts'
import type { CellColumn, Column, PatternColumn } from './column.ts'
import { mergeKeyOrders } from './key-order.ts'
import { isFilled, patternOf, planColumns } from './plan-columns.ts'
import { excess, type Pricer } from './pricer.ts'
import { weighsBrackets } from './style.ts'
import { KEY_COLUMN, SEPARATOR } from './syntax.ts'
import type { Piece } from './trace.ts'
import { addUses, priceOfUses, usesOf } from './uses.ts'
import { RowWriter, writeHeader } from './write-table.ts'

/** With fewer members there is no table, because the header would take more than it saves. */
const FEWEST_KEYED = 2

/**
 * The text after a key whose value is an array of objects: `[2]:`, a header and a line for each
 * object. Returns `null` for another value, or if its rows do not fit a table.
 */
export function encodeTable(value: Value, pricer: Pricer): Table | null {
  const { minTableRows, minKeyStability } = pricer.style
  if (!Array.isArray(value) || value.length < minTableRows) return null
  const rows = value.some(isGap) ? value.filter(row => !isGap(row)) : value
  if (!rows.every(row => row instanceof ObjectValue)) return null
  if (minKeyStability > 0 && keyStability(rows) < minKeyStability) return null
  const whole = planColumns(rows, pricer)
  const regular = whole === null ? regularRows(rows) : rows
  const planned = whole ?? (regular.length === 0 ? null : planColumns(regular, pricer))
  if (planned === null) return null
  const columns = planned.every(column => column.kind === 'constant')
    ? [asCell(planned[0]!), ...planned.slice(1)]
    : planned
  const isRegular = whole === null ? new Set(regular) : null
  const writer = new RowWriter(pricer.shapes)
  const brackets = collectBrackets(writer, pricer)
  writer.out = `[${countOf(rows, value)}]:\n${writeHeader(columns)}`
  for (const row of value as readonly (ObjectValue | Gap)[]) {
    writer.out += '\n'
    if (row instanceof Gap) {
      writer.out += row.text
      continue
    }
    if (isRegular?.has(row) === false) writer.bracketed(row)
    else writer.row(columns, row)
  }
  return { text: writer.out, brackets, uses: usesOf(columns) }
}

function isGap(row: Value): row is Gap {
  return row instanceof Gap
}

/** The number of rows, and of all that there were if some are not shown: `8 of 64`. */
function countOf(rows: readonly Value[], withGaps: readonly Value[]): string {
  const missing = withGaps.reduce<number>((sum, row) => sum + (isGap(row) ? row.items : 0), 0)
  return missing === 0 ? `${rows.length}` : `${rows.length} of ${rows.length + missing}`
}

/** The rows that fit one table if not all do; none if these are too few. */
function regularRows(rows: readonly ObjectValue[]): readonly ObjectValue[] {
  const keys = regularKeys(rows)
  return keys === null ? [] : rows.filter(row => keys.has(row.keys))
}

/** The same for an object whose members are objects; the first cell of each row is the key. */
export function encodeKeyedTable(value: ObjectValue, pricer: Pricer): Table | null {
  const { keys } = value
  if (keys.length < FEWEST_KEYED) return null
  const rows: ObjectValue[] = []
  for (const row of value.values) {
    if (!(row instanceof ObjectValue)) return null
    rows.push(row)
  }
  const columns = planColumns(rows, pricer)
  if (columns === null) return null
  const keyColumn = keyColumnOf(keys, pricer)
  const { prefix, suffix } = keyColumn.kind === 'pattern' ? keyColumn : NO_AFFIXES
  const writer = new RowWriter(pricer.shapes)
  const brackets = collectBrackets(writer, pricer)
  const header = [writeHeader([keyColumn]), writeHeader(columns)].join(SEPARATOR)
  writer.out = `{${keys.length}}:\n${header}`
  for (let i = 0; i < keys.length; i++) {
    writer.out += '\n'
    writer.startRow()
    writer.keyCell(keys[i]!.slice(prefix.length, keys[i]!.length - suffix.length))
    writer.members(columns, rows[i]!)
  }
  return { text: writer.out, brackets, uses: usesOf([keyColumn, ...columns]) }
}

const NO_AFFIXES = { prefix: '', suffix: '' }

function keyColumnOf(keys: readonly string[], pricer: Pricer): CellColumn | PatternColumn {
  const pattern = patternOf(KEY_COLUMN, keys, pricer)
  return pattern?.kind === 'pattern' ? pattern : { kind: 'cell', name: KEY_COLUMN }
}

/** Without a column, every line would be empty. */
function asCell(column: Column): CellColumn {
  return { kind: 'cell', name: column.name }
}

/** Kinds of rows that are tried; each costs a pass over the keys of those before. */
const MOST_KINDS = 16

/** Rows of a table, at least, that have its columns; the others stand in brackets. */
const LEAST_REGULAR = 0.75

/**
 * The lists of keys that fit one table, the most frequent first, if not all do: a few rows of
 * another order, or with many keys of their own, should not cost the others their table. Returns
 * `null` if too few fit.
 */
function regularKeys(rows: readonly ObjectValue[]): ReadonlySet<readonly string[]> | null {
  const rowsOf = new Map<readonly string[], ObjectValue[]>()
  const kinds = new Map<string, readonly string[]>()
  for (const row of rows) {
    const known = rowsOf.get(row.keys) ?? rowsOf.get(kinds.get(nameOf(row.keys)) ?? [])
    if (known !== undefined) known.push(row)
    else {
      kinds.set(nameOf(row.keys), row.keys)
      rowsOf.set(row.keys, [row])
    }
    if (kinds.size > rows.length * (1 - LEAST_REGULAR) + MOST_KINDS) return null
  }
  const byCount = [...rowsOf.values()].sort((a, b) => b.length - a.length).slice(0, MOST_KINDS)
  let regular: ObjectValue[] = []
  for (const kind of byCount) {
    const more = [...regular, ...kind]
    const order = mergeKeyOrders(more)
    if (order !== null && isFilled(order.names.length, more.length, order.members)) regular = more
  }
  return regular.length < rows.length * LEAST_REGULAR ? null : new Set(regular.map(row => row.keys))
}

/** Two lists have the same name only if they are the same. */
function nameOf(keys: readonly string[]): string {
  return JSON.stringify(keys)
}

/** Collects the nested values that the writer writes; none if the style does not weigh them. */
function collectBrackets(writer: RowWriter, { style }: Pricer): readonly Bracket[] {
  const brackets: Bracket[] = []
  if (weighsBrackets(style)) {
    writer.onBracket = (text, isRows) => brackets.push({ text, isRows })
  }
  return brackets
}

/**
 * The table with its price. Nested values in brackets in its rows have the same surcharge as
 * elsewhere.
 */
export function tablePiece({ text, brackets, uses: ofColumns }: Table, pricer: Pricer): Piece {
  const { style, tokens } = pricer
  const count = tokens(text)
  const uses = isPriced(style.reading, 'table') ? addUses(ofColumns, { table: count }) : ofColumns
  let surcharge = priceOfUses(uses, style.reading)
  let values = ''
  for (const bracket of brackets) {
    surcharge += excess(bracket.text, style)
    if (!bracket.isRows) values += `\n${bracket.text}`
  }
  if (values !== '') surcharge += tokens(values) * priceOfUse(style.reading, 'brackets')
  return { text, tokens: count, surcharge, uses }
}

/** A nested value in brackets inside a table. */
interface Bracket {
  readonly text: string
  /** The rows of a column, which name no keys, rather than a value as in JSON. */
  readonly isRows: boolean
}

/** A table as text, with the nested values in its rows if the style weighs them. */
export interface Table {
  readonly text: string
  readonly brackets: readonly Bracket[]
  /** What its reader must know; `undefined`: nothing. */
  readonly uses: Uses | undefined
}
