import { COMMA, LINE_FEED, OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../../json/char-codes.ts'
import { DEFAULT_MAX_DEPTH, parseJson } from '../../json/parse-json.ts'
import { ObjectValue, type Value } from '../../json/value.ts'
import { readLiteral } from '../bare-text.ts'
import { notDecodable } from '../not-decodable.ts'

/** Levels of JSON in a cell: the array and its row take two. */
const MAX_CELL_DEPTH = DEFAULT_MAX_DEPTH - 2

/** The array of objects that `encodeCsv` wrote. Throws `AppError('not_decodable')`. */
export function decodeCsv(text: string): Value {
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

  /** Moves over the separator; whether the record goes on after it. */
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
