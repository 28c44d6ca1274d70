import { COMMA, LINE_FEED, OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../../json/char-codes.ts'
import { DEFAULT_MAX_DEPTH, parseJson } from '../../json/parse-json.ts'
import { ObjectValue, type Value } from '../../json/value.ts'
import { writeJson } from '../../json/write-json.ts'
import { escapeText, isAmbiguous, readLiteral } from '../bare-text.ts'
import { Gap } from '../gaps.ts'
import { notDecodable } from '../not-decodable.ts'
import { COMMA_BIT, contentOf, LINE_FEED_BIT, QUOTE_BIT, UNSAFE_BIT } from '../text-content.ts'
import type { JsonFormat } from './json-format.ts'

/** Steps of a character and of a member. */
const CHAR_STEPS = 15
const MEMBER_STEPS = 250

/** An array of objects as a table: the keys are in the header, and each row is an object. */
export const csv: JsonFormat = {
  id: 'csv',
  version: 1,
  accepts: (_, { shape }) => shape === 'array_of_objects',
  steps: ({ chars, members }) => chars * CHAR_STEPS + members * MEMBER_STEPS,
  encode: encodeCsv,
  decode: decodeCsv,
}

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
function encodeCsv(value: Value): string | null {
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
  for (const row of value as readonly (ObjectValue | Gap)[]) {
    if (row instanceof Gap) {
      out += `\n${row.text}`
      continue
    }
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
    if (row instanceof Gap) continue
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

/** The text in quotes, or its JSON literal if the text would be read as JSON or needs escapes. */
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

/** Levels of JSON in a cell: the array and its row take two. */
const MAX_CELL_DEPTH = DEFAULT_MAX_DEPTH - 2

/** The array of objects that `encodeCsv` wrote. Throws `AppError('not_decodable')`. */
function decodeCsv(text: string): Value {
  const reader = new CsvReader(text)
  const columns = reader.header()
  const rows: ObjectValue[] = []
  while (!reader.atEnd) rows.push(reader.row(columns))
  if (rows.length === 0) throw reader.error('a row expected')
  return rows
}

class CsvReader {
  readonly #text: string
  /** The first character of the next cell; past the text's length when the last record is read. */
  #at = 0
  /** The cell read last was in quotes. */
  #quoted = false

  constructor(text: string) {
    this.#text = text
  }

  get atEnd(): boolean {
    return this.#at > this.#text.length
  }

  error(reason: string, offset = this.#at): Error {
    return notDecodable(this.#text, offset, reason)
  }

  header(): readonly string[] {
    const names = new Set<string>()
    for (let more = true; more; ) {
      const start = this.#at
      const raw = this.#cell()
      if (raw === '' && !this.#quoted) throw this.error('a column name expected', start)
      const name = this.#quoted ? this.#quotedValue(raw, start) : raw
      if (typeof name !== 'string' || names.has(name))
        throw this.error('a new column name expected', start)
      names.add(name)
      more = this.#separator()
    }
    return [...names]
  }

  row(columns: readonly string[]): ObjectValue {
    const values: Value[] = []
    let keys: string[] | null = null
    const start = this.#at
    for (let column = 0; column < columns.length; column++) {
      const at = this.#at
      const raw = this.#cell()
      if (raw === '' && !this.#quoted) {
        if (columns.length === 1) throw this.error('an empty line', start)
        keys ??= columns.slice(0, column)
      } else {
        keys?.push(columns[column]!)
        values.push(this.#quoted ? this.#quotedValue(raw, at) : this.#bareValue(raw, at))
      }
      if (this.#separator() !== column < columns.length - 1) {
        throw this.error(`${columns.length} cells expected`, start)
      }
    }
    return new ObjectValue(keys ?? columns, values)
  }

  /** The raw content of the cell at `#at`, which moves to the separator after it. */
  #cell(): string {
    const text = this.#text
    const start = this.#at
    this.#quoted = text.charCodeAt(start) === QUOTE
    if (this.#quoted) return this.#quotedCell(start + 1)
    let at = start
    for (; at < text.length; at++) {
      const c = text.charCodeAt(at)
      if (c === COMMA || c === LINE_FEED) break
      if (c === QUOTE) throw this.error('a quote inside a cell without quotes', at)
    }
    this.#at = at
    return text.slice(start, at)
  }

  #quotedCell(start: number): string {
    const text = this.#text
    let doubled = false
    let end = text.indexOf('"', start)
    while (end !== -1 && text.charCodeAt(end + 1) === QUOTE) {
      doubled = true
      end = text.indexOf('"', end + 2)
    }
    if (end === -1) throw this.error('a quote that is not closed', start)
    this.#at = end + 1
    const raw = text.slice(start, end)
    return doubled ? raw.replaceAll('""', '"') : raw
  }

  /** Moves over the separator. Returns whether the record continues after it. */
  #separator(): boolean {
    const c = this.#text.charCodeAt(this.#at)
    if (c !== COMMA && c !== LINE_FEED && this.#at < this.#text.length) {
      throw this.error('a separator expected')
    }
    this.#at++
    return c === COMMA
  }

  #bareValue(raw: string, start: number): Value {
    const c = raw.charCodeAt(0)
    if (c === OPEN_BRACKET || c === OPEN_BRACE) return this.#json(raw, start)
    const literal = readLiteral(raw, 0, raw.length)
    return literal === undefined ? raw : literal
  }

  #quotedValue(content: string, start: number): Value {
    const c = content.charCodeAt(0)
    return c === QUOTE || c === OPEN_BRACKET || c === OPEN_BRACE
      ? this.#json(content, start)
      : content
  }

  #json(content: string, start: number): Value {
    const parsed = parseJson(content, { maxDepth: MAX_CELL_DEPTH })
    if (!parsed.ok) throw this.error('JSON expected in the cell', start)
    return parsed.value
  }
}
