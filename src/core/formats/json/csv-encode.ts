import { OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../../json/char-codes.ts'
import { ObjectValue, type Value } from '../../json/value.ts'
import { writeJson } from '../../json/write-json.ts'
import { escapeText, isAmbiguous } from '../bare-text.ts'
import { COMMA_BIT, contentOf, LINE_FEED_BIT, QUOTE_BIT, UNSAFE_BIT } from '../text-content.ts'

/**
 * Cells allowed for each member that is there. Beyond it a table of mostly empty cells cannot be
 * smaller than JSON, and rows with keys of their own would make its size quadratic.
 */
const MAX_CELLS_PER_MEMBER = 8

const CELL_NEEDS_QUOTES = COMMA_BIT | QUOTE_BIT | LINE_FEED_BIT | UNSAFE_BIT

/**
 * The array of objects as CSV, or `null` if the order of a row's keys is not the header's, a key is
 * repeated, or too few cells would be filled.
 */
export function encodeCsv(value: Value): string | null {
  if (!Array.isArray(value)) return null
  const columns = columnsOf(value)
  if (columns === null) return null
  let out = ''
  let separator = ''
  for (const name of columns.keys()) {
    out += separator + encodeName(name)
    separator = ','
  }
  let lastKeys: readonly string[] = []
  let slots: readonly number[] | null = []
  for (const row of value as readonly ObjectValue[]) {
    if (row.keys !== lastKeys) {
      lastKeys = row.keys
      slots = slotsOf(lastKeys, columns)
      if (slots === null) return null
    }
    out += `\n${encodeRow(row.values, slots!, columns.size)}`
  }
  return out
}

/** Names of all rows' keys in the order they are first met, with their index. */
function columnsOf(rows: readonly Value[]): ReadonlyMap<string, number> | null {
  const columns = new Map<string, number>()
  let lastKeys: readonly string[] = []
  let fewest = Number.POSITIVE_INFINITY
  let members = 0
  for (const row of rows) {
    if (!(row instanceof ObjectValue)) return null
    members += row.keys.length
    fewest = Math.min(fewest, row.keys.length)
    if (row.keys === lastKeys) continue
    lastKeys = row.keys
    for (const key of lastKeys) if (!columns.has(key)) columns.set(key, columns.size)
  }
  // A row of one missing cell would be an empty line, which many readers of CSV skip.
  if (columns.size === 0 || (columns.size === 1 && fewest === 0)) return null
  return columns.size * rows.length > MAX_CELLS_PER_MEMBER * members ? null : columns
}

/**
 * The column of each key; `null` unless they ascend, since a row's cells give its keys in that
 * order.
 */
function slotsOf(
  keys: readonly string[],
  columns: ReadonlyMap<string, number>,
): readonly number[] | null {
  const slots: number[] = []
  let last = -1
  for (const key of keys) {
    const slot = columns.get(key)!
    if (slot <= last) return null
    slots.push(slot)
    last = slot
  }
  return slots
}

function encodeRow(values: readonly Value[], slots: readonly number[], width: number): string {
  let out = ''
  let column = 0
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i]!
    if (slot > column) out += ','.repeat(slot - column)
    column = slot
    out += encodeCell(values[i]!)
  }
  return column < width - 1 ? out + ','.repeat(width - 1 - column) : out
}

function encodeCell(value: Value): string {
  if (typeof value === 'string') return encodeString(value)
  if (value === null || typeof value !== 'object') return String(value)
  const json = writeJson(value)
  return json.includes(',') || json.includes('"') ? quoteCell(json) : json
}

function encodeString(text: string): string {
  const content = contentOf(text)
  if ((content & CELL_NEEDS_QUOTES) === 0 && !isAmbiguous(text)) return text
  return quoteString(text, content)
}

/** A name is never anything but a string, so one that looks like a number may stay bare. */
function encodeName(name: string): string {
  const content = contentOf(name)
  const bare = name.length > 0 && (content & CELL_NEEDS_QUOTES) === 0 && name.trim() === name
  return bare ? name : quoteString(name, content)
}

/**
 * In quotes: the text itself, or its JSON literal if the text would be taken for JSON or needs
 * escapes.
 */
function quoteString(text: string, content: number): string {
  const first = text.charCodeAt(0)
  const literal =
    (content & UNSAFE_BIT) !== 0 ||
    first === QUOTE ||
    first === OPEN_BRACKET ||
    first === OPEN_BRACE
  return quoteCell(literal ? escapeText(text) : text)
}

function quoteCell(content: string): string {
  return `"${content.includes('"') ? content.replaceAll('"', '""') : content}"`
}
