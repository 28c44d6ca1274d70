import {
  ASTERISK,
  BACKTICK,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  CLOSE_PARENTHESIS,
  COLON,
  COMMA,
  DIGIT_0,
  DOT,
  EQUALS,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PARENTHESIS,
  QUOTE,
  SPACE,
} from '../../../json/char-codes.ts'
import { ObjectValue, type Value } from '../../../json/value.ts'
import { writeSpacedJson } from '../../text/json-spacing.ts'
import type { Column } from './column.ts'
import { readInline } from './read-inline.ts'
import { RowReader, readColumn, readHeader } from './read-table.ts'
import {
  bareValue,
  beginsWithKey,
  isDigit,
  KEY_ENDS,
  MARK_ENDS,
  PREFIX_ENDS,
  Reader,
  readFence,
} from './reader.ts'
import { ITEM_MARK, JSON_MARK } from './syntax.ts'

/** Decodes what `encodeTree` wrote, in time linear in the text. @throws AppError `not_decodable` */
export function decodeTree(text: string): Value {
  const tree = new TreeReader(text)
  return tree.document()
}

/** What the head of a table says. */
interface TableHead {
  readonly count: number
  /** Whether the first cell of a row is its key. */
  readonly keyed: boolean
}

class TreeReader {
  readonly #reader: Reader
  /** Spaces at the start of the current line, which the place has not been moved over. */
  #indent = 0

  constructor(text: string) {
    this.#reader = new Reader(text)
    readDeclarations(this.#reader)
    this.#measure()
  }

  document(): Value {
    const reader = this.#reader
    const c = reader.next
    let value: Value
    if (this.#isItem()) value = this.#list(0, 0)
    else if (c === OPEN_BRACKET || c === OPEN_BRACE) value = this.#bracket(0)
    else value = this.#block(0, 0)
    if (reader.at < reader.text.length) throw reader.error('the end expected')
    return value
  }

  /**
   * Reads a table if its head is at the place, otherwise a value in brackets. Moves over the line's
   * end.
   */
  #bracket(depth: number): Value {
    const table = this.#table(depth)
    if (table !== undefined) return table
    const value = readInline(this.#reader, depth)
    this.#endLine()
    return value
  }

  /** The members of one object: lines with `indent` spaces, until one with fewer. */
  #block(indent: number, depth: number): Value {
    const reader = this.#reader
    reader.checkDepth(depth)
    const keys: string[] = []
    const values: Value[] = []
    do {
      reader.at += indent
      if (reader.skip(EQUALS)) this.#patternRun(keys, values, indent)
      else this.#member(keys, values, indent, depth)
    } while (reader.at < reader.text.length && this.#indent === indent && !this.#isItem())
    if (this.#indent > indent) throw reader.error('a line too far to the right')
    return new ObjectValue(keys, values)
  }

  /** Members below a pattern: each value is the pattern with the line's text in it. */
  #patternRun(keys: string[], values: Value[], indent: number): void {
    const reader = this.#reader
    const prefix = reader.next === QUOTE ? reader.quoted() : reader.bare(PREFIX_ENDS)
    reader.expect(ASTERISK, 'a pattern')
    reader.newLine()
    this.#measure()
    const inner = this.#indent
    if (inner <= indent) throw reader.error('a member of the pattern expected')
    do {
      reader.at += inner
      keys.push(this.#key())
      reader.expect(COLON, 'a colon')
      reader.skip(SPACE)
      if (reader.atLineEnd) throw reader.error('a value expected')
      values.push(prefix + (reader.next === QUOTE ? reader.quoted() : reader.restOfLine()))
      this.#endLine()
    } while (reader.at < reader.text.length && this.#indent === inner)
  }

  /** One member whose key is at the place, and the lines below that belong to it. */
  #member(keys: string[], values: Value[], indent: number, depth: number): void {
    keys.push(this.#key())
    values.push(this.#afterKey(indent, depth + 1))
  }

  /**
   * Reads the value of a key: after it comes a longer path, a mark, a table, or a colon and a
   * value.
   */
  #afterKey(indent: number, depth: number, marked = false): Value {
    const reader = this.#reader
    if (reader.skip(DOT)) {
      reader.checkDepth(depth)
      const key = this.#key()
      return new ObjectValue([key], [this.#afterKey(indent, depth + 1)])
    }
    if (!marked && reader.skip(OPEN_PARENTHESIS)) {
      const start = reader.at
      const word = reader.bare(MARK_ENDS)
      if (!reader.text.startsWith(JSON_MARK, reader.at)) throw reader.error('no known mark', start)
      reader.at += JSON_MARK.length
      const text = writeSpacedJson(this.#afterKey(indent, depth, true), word, reader.charsLeft)
      if (text === undefined) throw reader.error('no known spacing, or a text too long', start)
      reader.charsLeft -= text.length
      return text
    }
    const table = this.#table(depth)
    if (table !== undefined) return table
    reader.expect(COLON, 'a colon')
    reader.skip(SPACE)
    return this.#afterColon(indent, depth)
  }

  #key(): string {
    const reader = this.#reader
    if (reader.next === QUOTE) return reader.quoted()
    const key = reader.bare(KEY_ENDS)
    if (key === '' || key.startsWith(' ')) throw reader.error('a key expected')
    return key
  }

  #afterColon(indent: number, depth: number): Value {
    const reader = this.#reader
    if (!reader.atLineEnd) return this.#value(depth)
    reader.newLine()
    this.#measure()
    const inner = this.#indent
    if (inner >= indent && this.#isItem()) return this.#list(inner, depth)
    if (inner <= indent) throw reader.error('a value expected')
    return this.#block(inner, depth)
  }

  /** A value that begins at the place. Moves over the end of its last line. */
  #value(depth: number): Value {
    const reader = this.#reader
    const c = reader.next
    let value: Value
    if (c === OPEN_BRACKET || c === OPEN_BRACE) value = readInline(reader, depth)
    else if (c === QUOTE) value = reader.quoted()
    else if (c === BACKTICK && reader.text.startsWith('```', reader.at)) value = readFence(reader)
    else value = reader.readShaped?.(depth) ?? bareValue(reader.restOfLine())
    this.#endLine()
    return value
  }

  /** Lines with a dash after `indent` spaces, until one without. */
  #list(indent: number, depth: number): Value {
    const reader = this.#reader
    reader.checkDepth(depth)
    const items: Value[] = []
    do {
      reader.at += indent + 2
      items.push(this.#item(indent, depth + 1))
    } while (reader.at < reader.text.length && this.#indent === indent && this.#isItem())
    if (this.#indent > indent) throw reader.error('a line too far to the right')
    return items
  }

  #item(indent: number, depth: number): Value {
    const reader = this.#reader
    const c = reader.next
    if (c === OPEN_BRACKET || c === OPEN_BRACE) return this.#bracket(depth)
    const shaped = reader.readShaped?.(depth)
    if (shaped !== undefined) {
      this.#endLine()
      return shaped
    }
    if (beginsWithKey(reader)) {
      // The object's first line is this one; the place goes to the start of its indentation.
      reader.at -= indent + 1
      return this.#block(indent + 1, depth)
    }
    if (reader.atLineEnd) throw reader.error('a value expected')
    return this.#value(depth)
  }

  /** The table whose `[3]:` or `{3}:` is at the place; `undefined` if there is none. */
  #table(depth: number): Value | undefined {
    const reader = this.#reader
    const opener = reader.next
    if (opener !== OPEN_BRACKET && opener !== OPEN_BRACE) return undefined
    const { text } = reader
    let at = reader.at + 1
    let count = 0
    while (isDigit(text.charCodeAt(at))) count = count * 10 + text.charCodeAt(at++) - DIGIT_0
    if (at === reader.at + 1) return undefined
    const closer = opener === OPEN_BRACKET ? CLOSE_BRACKET : CLOSE_BRACE
    if (text.charCodeAt(at) !== closer || text.charCodeAt(at + 1) !== COLON) return undefined
    reader.checkDepth(depth + 1)
    reader.at = at + 2
    reader.newLine()
    return this.#rows({ count, keyed: opener === OPEN_BRACE }, depth)
  }

  #rows({ count, keyed }: TableHead, depth: number): Value {
    const reader = this.#reader
    let keyColumn: Column | null = null
    if (keyed) {
      keyColumn = readColumn(reader, depth + 2)
      if (keyColumn.kind !== 'cell' && keyColumn.kind !== 'pattern') {
        throw reader.error('a column of keys expected')
      }
      reader.expect(COMMA, 'a comma')
    }
    const columns = readHeader(reader, depth + 2)
    const cells = new RowReader(reader, 'table')
    const keys: string[] = []
    const rows: ObjectValue[] = []
    for (let i = 0; i < count; i++) {
      reader.newLine()
      const lone = keyed ? undefined : this.#loneObject(depth + 1)
      if (lone !== undefined) {
        rows.push(lone)
        continue
      }
      cells.startRow()
      if (keyColumn !== null) keys.push(cells.keyCell(keyColumn))
      rows.push(cells.row(columns, depth + 1))
      cells.endRow()
    }
    this.#endLine()
    return keyed ? new ObjectValue(keys, rows) : rows
  }

  /** Reads a row that is only an object in braces, because the columns do not fit it. */
  #loneObject(depth: number): ObjectValue | undefined {
    const reader = this.#reader
    if (reader.next !== OPEN_BRACE) return undefined
    const start = reader.at
    const value = readInline(reader, depth) as ObjectValue
    if (reader.atLineEnd) return value
    reader.at = start
    return undefined
  }

  #isItem(): boolean {
    const { at, text } = this.#reader
    return text.startsWith(ITEM_MARK, at + this.#indent)
  }

  /** Moves to the next line, and counts its spaces. */
  #endLine(): void {
    this.#reader.endLine()
    this.#measure()
  }

  #measure(): void {
    const { at, text } = this.#reader
    let end = at
    while (text.charCodeAt(end) === SPACE) end++
    this.#indent = end - at
  }
}

/** A declaration begins like a keyed table, whose brace holds its number of rows. */
const DECLARATION = /[A-Za-z]{1,3}\{(?!\d+\}:)/y
const NAME = /[A-Za-z]{1,3}\(/y

/**
 * Moves over the declarations at the start of a document. Their objects can be read from then on,
 * so no declaration refers to a shape.
 */
function readDeclarations(reader: Reader): void {
  const shapes = new Map<string, readonly Column[]>()
  for (;;) {
    DECLARATION.lastIndex = reader.at
    if (!DECLARATION.test(reader.text)) break
    const start = reader.at
    const column = readColumn(reader, 1)
    if (column.kind !== 'group') throw reader.error('a shape expected', start)
    if (shapes.has(column.name)) throw reader.error('a new shape expected', start)
    shapes.set(column.name, column.columns)
    reader.newLine()
  }
  if (shapes.size === 0) return
  reader.readShaped = depth => {
    NAME.lastIndex = reader.at
    if (!NAME.test(reader.text)) return undefined
    const open = NAME.lastIndex - 1
    const columns = shapes.get(reader.text.slice(reader.at, open))
    if (columns === undefined) return undefined
    reader.checkDepth(depth)
    reader.at = open
    reader.expect(OPEN_PARENTHESIS, 'a parenthesis')
    const object = new RowReader(reader, 'shape').only(columns, depth)
    reader.expect(CLOSE_PARENTHESIS, 'a closing parenthesis')
    return object
  }
}
