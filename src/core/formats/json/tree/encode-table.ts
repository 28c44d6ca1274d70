import { keyStability } from '../../../classify/json-shape.ts'
import { ObjectValue, type Value } from '../../../json/value.ts'
import { leavesOf } from './cell-gaps.ts'
import { chooseLayout } from './choose-layout.ts'
import type { CellColumn, Column, PatternColumn } from './column.ts'
import { mergeKeyOrders } from './key-order.ts'
import type { KnownTables } from './known-tables.ts'
import { isFilled, patternOf, planColumns } from './plan-columns.ts'
import { excess, type Pricer } from './pricer.ts'
import { weighsBrackets } from './style.ts'
import {
  ABSENT_MARK,
  FEWEST_MARKED,
  KEY_COLUMN,
  NUMBER_MARK,
  NUMBERED_STEP,
  rowNumber,
} from './syntax.ts'
import type { Bracket, Table } from './table.ts'
import type { Piece } from './trace.ts'
import { type Layout, RowWriter, writeHeader } from './write-table.ts'

/** A pricer that may know the tables of the document without shapes. */
type TablePricer = Pricer & { readonly tables: KnownTables | undefined }

/** With fewer members there is no table, because the header would take more than it saves. */
const FEWEST_KEYED = 2

/**
 * The text after a key whose value is an array of objects: `[2]:`, a header and a line for each
 * object. Returns `null` for another value, or if its rows do not fit a table.
 */
export function encodeTable(value: Value, pricer: TablePricer): Table | null {
  const { minTableRows, minKeyStability } = pricer.style
  const { tables, shapes } = pricer
  if (!Array.isArray(value) || value.length < minTableRows) return null
  if (!value.every(row => row instanceof ObjectValue)) return null
  const known = shapes === undefined ? undefined : tables?.find(value, shapes)
  if (known !== undefined) return known
  if (minKeyStability > 0 && keyStability(value) < minKeyStability) return null
  const whole = planColumns(value, pricer)
  const regular = whole === null ? regularRows(value) : value
  const columns = whole ?? (regular.length === 0 ? null : planColumns(regular, pricer))
  if (columns === null) {
    tables?.keepNone(value)
    return null
  }
  const shown = columns.every(column => column.kind === 'constant')
    ? [asCell(columns[0]!), ...columns.slice(1)]
    : columns
  const chosen = chooseLayout(regular, shown, pricer)
  const { layout } = chosen
  /** Rows in brackets may have shapes inside. */
  let hasBracketed = false
  const write = (marks: Layout): WrittenTable => {
    const writer = new RowWriter(marks)
    const brackets = collectBrackets(writer, pricer)
    writer.out = `[${value.length}${markOf(marks)}]:\n${writeHeader(shown, layout)}`
    const isRegular = whole === null ? new Set(regular) : null
    for (const row of value) {
      writer.out += '\n'
      const isBracketed = isRegular?.has(row) === false
      if (isBracketed) writer.bracketed(row)
      if (isBracketed || !writer.row(shown, row)) hasBracketed = true
    }
    return writtenBy(writer, shown, value.length, brackets)
  }
  // Brackets that are weighed are collected while rows are written.
  const rows = whole === null || weighsBrackets(pricer.style) ? null : chosen.rows()
  const keep = (table: Table): Table => {
    if (!hasBracketed) tables?.keep(value, { table, columns: shown, rows: value })
    return table
  }
  if (rows === null) return keep(withNumbers(withMarks(layout, write, pricer), value, pricer))
  const text = `[${value.length}${markOf(layout)}]:\n${writeHeader(shown, layout)}${rows}`
  const hasGaps =
    value.length > MOST_UNMARKED && (chosen.hasGaps ?? mayHaveGaps(rows, layout.separator))
  const isWide = leavesOf(shown).length > MOST_NARROW
  const table = withMarks(layout, write, pricer, { text, brackets: [], isWide, hasGaps })
  // With shapes it is known whether there are gaps, without them it may be a guess.
  return hasGaps ? table : keep(table)
}

/** In a table with so few rows, a reader needs no marks of empty cells. */
const MOST_UNMARKED = 2

interface WrittenTable extends Table {
  /** Whether empty cells stand together before a filled one, or may, in enough rows. */
  readonly hasGaps: boolean
}

/** Whether empty cells stand together in rows, or something that looks like them. */
function mayHaveGaps(rows: string, separator: string): boolean {
  const gap = separator.repeat(FEWEST_MARKED)
  return rows.includes(gap + separator) || rows.includes(`\n${gap}`)
}

/** What the head of a table has after the number of rows. */
function markOf({ separator, marksGaps }: Layout): string {
  return (separator === ',' ? '' : separator) + (marksGaps ? ABSENT_MARK : '')
}

/** The table with marks for its empty cells, if it has some that need them and they cost little. */
function withMarks(
  layout: Layout,
  write: (layout: Layout) => WrittenTable,
  { style, tokens }: Pricer,
  plain = write(layout),
): Table {
  if (!plain.hasGaps) return plain
  const { separator, spaced, gaps, shapes } = layout
  const marked = write({ separator, spaced, gaps, shapes, marksGaps: true })
  return tokens(marked.text) <= tokens(plain.text) * (1 + style.reading.gaps) ? marked : plain
}

/** A table has numbers of rows from so many rows on. */
const FEWEST_NUMBERED = 2 * NUMBERED_STEP
/** Tokens of a number, and characters of a token, about. */
const NUMBER_TOKENS = 3
const CHARS_PER_TOKEN = 4

/** The table with a number before every 25th row, if none has one and they cost little. */
function withNumbers(table: Table, rows: readonly ObjectValue[], { style }: Pricer): Table {
  const { text } = table
  const price = (rows.length / NUMBERED_STEP) * NUMBER_TOKENS * CHARS_PER_TOKEN
  if (rows.length < FEWEST_NUMBERED || price > text.length * style.reading.numbers) return table
  if (isNumbered(rows)) return table
  const [head, header, ...lines] = text.split('\n')
  for (let at = NUMBERED_STEP - 1; at < lines.length; at += NUMBERED_STEP) {
    lines[at] = `${rowNumber(at)}${lines[at]}`
  }
  const numbered = `${head!.slice(0, -CLOSER.length)}${NUMBER_MARK}${CLOSER}`
  const { brackets, isWide } = table
  return { text: [numbered, header, ...lines].join('\n'), brackets, isWide }
}

/** Ends the head of a table. */
const CLOSER = ']:'

/** Whether the first member of the rows counts them. */
function isNumbered(rows: readonly ObjectValue[]): boolean {
  const first = Number(rows[0]!.values[0])
  return rows.every(({ values }, at) => Number(values[0]) === first + at)
}

/** The rows that fit one table if not all do; none if these are too few. */
function regularRows(rows: readonly ObjectValue[]): readonly ObjectValue[] {
  const keys = regularKeys(rows)
  return keys === null ? [] : rows.filter(row => keys.has(row.keys))
}

/** The same for an object whose members are objects; the first cell of each row is the key. */
export function encodeKeyedTable(value: ObjectValue, pricer: TablePricer): Table | null {
  const { keys } = value
  const { tables, shapes } = pricer
  if (keys.length < FEWEST_KEYED) return null
  const rows: ObjectValue[] = []
  for (const row of value.values) {
    if (!(row instanceof ObjectValue)) return null
    rows.push(row)
  }
  const known = shapes === undefined ? undefined : tables?.find(value, shapes)
  if (known !== undefined) return known
  const columns = planColumns(rows, pricer)
  if (columns === null) {
    tables?.keepNone(value)
    return null
  }
  const keyColumn = keyColumnOf(keys, pricer)
  const { layout } = chooseLayout(rows, columns, pricer)
  const { prefix, suffix } = keyColumn.kind === 'pattern' ? keyColumn : NO_AFFIXES
  const write = (marks: Layout): WrittenTable => {
    const writer = new RowWriter(marks)
    const brackets = collectBrackets(writer, pricer)
    const header = [[keyColumn], columns].map(part => writeHeader(part, layout))
    writer.out = `{${keys.length}${markOf(marks)}}:\n${header.join(layout.separator)}`
    for (let i = 0; i < keys.length; i++) {
      writer.out += '\n'
      writer.startRow()
      writer.keyCell(keys[i]!.slice(prefix.length, keys[i]!.length - suffix.length))
      writer.members(columns, rows[i]!)
    }
    return writtenBy(writer, columns, keys.length, brackets)
  }
  const table = withMarks(layout, write, pricer)
  tables?.keep(value, { table, columns, rows })
  return table
}

/** What a writer wrote of so many rows. */
function writtenBy(
  writer: RowWriter,
  columns: readonly Column[],
  rows: number,
  brackets: readonly Bracket[],
): WrittenTable {
  const isWide = leavesOf(columns).length > MOST_NARROW
  return { text: writer.out, brackets, isWide, hasGaps: rows > MOST_UNMARKED && writer.hasGaps }
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

/** A reader finds a cell among so many without counting. */
const MOST_NARROW = 24

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
export function tablePiece({ text, brackets, isWide }: Table, pricer: Pricer): Piece {
  const { style, tokens } = pricer
  const count = tokens(text)
  const cost = isWide ? style.tableCost * style.reading.wide : style.tableCost
  let surcharge = count * (cost - 1)
  let values = ''
  for (const bracket of brackets) {
    surcharge += excess(bracket.text, style)
    if (!bracket.isRows) values += `\n${bracket.text}`
  }
  if (values !== '') surcharge += tokens(values) * (style.bracketCost - 1)
  return { text, tokens: count, surcharge }
}
