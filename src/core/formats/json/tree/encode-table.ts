import { keyStability } from '../../../classify/json-shape.ts'
import { ObjectValue, type Value } from '../../../json/value.ts'
import { chooseLayout } from './choose-layout.ts'
import type { CellColumn, Column, PatternColumn } from './column.ts'
import { patternOf, planColumns } from './plan-columns.ts'
import type { Pricer } from './pricer.ts'
import { regularKeys } from './regular-rows.ts'
import { KEY_COLUMN } from './syntax.ts'
import { collectBrackets, type Table } from './table-piece.ts'
import { RowWriter, writeHeader } from './write-table.ts'

/** Fewer members than this are no table: the header would not save what it costs. */
const FEWEST_KEYED = 2

/**
 * What follows a key whose value is an array of objects: `[2]:`, a header and a line for each
 * object. `null` if the value is another, or its rows make no table.
 */
export function encodeTable(value: Value, pricer: Pricer): Table | null {
  const { minTableRows, minKeyStability } = pricer.style
  if (!Array.isArray(value) || value.length < minTableRows) return null
  if (!value.every(row => row instanceof ObjectValue)) return null
  if (minKeyStability > 0 && keyStability(value) < minKeyStability) return null
  const whole = planColumns(value, pricer)
  const regular = whole === null ? regularRows(value) : value
  const columns = whole ?? (regular.length === 0 ? null : planColumns(regular, pricer))
  if (columns === null) return null
  const shown = columns.every(column => column.kind === 'constant')
    ? [asCell(columns[0]!), ...columns.slice(1)]
    : columns
  const layout = chooseLayout(regular, shown, pricer)
  const writer = new RowWriter(layout)
  const brackets = collectBrackets(writer, pricer)
  const mark = layout.separator === ',' ? '' : layout.separator
  writer.out = `[${value.length}${mark}]:\n${writeHeader(shown, layout)}`
  const isRegular = whole === null ? new Set(regular) : null
  for (const row of value) {
    writer.out += '\n'
    if (isRegular?.has(row) !== false) writer.row(shown, row)
    else writer.bracketed(row)
  }
  return { text: writer.out, brackets }
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
  const layout = chooseLayout(rows, columns, pricer)
  const { separator } = layout
  const writer = new RowWriter(layout)
  const brackets = collectBrackets(writer, pricer)
  const mark = separator === ',' ? '' : separator
  const header = `${writeHeader([keyColumn], layout)}${separator}${writeHeader(columns, layout)}`
  writer.out = `{${keys.length}${mark}}:\n${header}`
  const { prefix, suffix } = keyColumn.kind === 'pattern' ? keyColumn : NO_AFFIXES
  for (let i = 0; i < keys.length; i++) {
    writer.out += '\n'
    writer.startRow()
    writer.keyCell(keys[i]!.slice(prefix.length, keys[i]!.length - suffix.length))
    writer.members(columns, rows[i]!)
  }
  return { text: writer.out, brackets }
}

const NO_AFFIXES = { prefix: '', suffix: '' }

function keyColumnOf(keys: readonly string[], pricer: Pricer): CellColumn | PatternColumn {
  const pattern = patternOf(KEY_COLUMN, keys, pricer)
  return pattern?.kind === 'pattern' ? pattern : { kind: 'cell', name: KEY_COLUMN }
}

/** Without one, every line would be empty. */
function asCell(column: Column): CellColumn {
  return { kind: 'cell', name: column.name }
}
