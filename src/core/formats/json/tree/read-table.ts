import {
  ASTERISK,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  CLOSE_PARENTHESIS,
  COMMA,
  EQUALS,
  LINE_FEED,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SEMICOLON,
} from '../../../json/char-codes.ts'
import { ObjectValue, type Value } from '../../../json/value.ts'
import type { CellColumn, Column, Leaf, PatternColumn } from './column.ts'
import { readInline } from './read-inline.ts'
import { bareValue, type Ends, endsOf, type Reader } from './reader.ts'
import { ABSENT_MARK } from './syntax.ts'

/**
 * The columns at the place, up to a line end or closing bracket.
 * @param depth containers around a member of a row
 */
export function readHeader(reader: Reader, depth: number): readonly Column[] {
  const columns: Column[] = []
  const names = new Set<string>()
  do {
    const start = reader.at
    const column = readColumn(reader, depth)
    if (names.has(column.name)) throw reader.error('a new column name expected', start)
    names.add(column.name)
    columns.push(column)
  } while (reader.skip(COMMA))
  return columns
}

/** One column at the place, up to a comma, a line end or a closing bracket. */
export function readColumn(reader: Reader, depth: number): Column {
  const name = readName(reader)
  switch (reader.next) {
    case EQUALS:
      reader.at++
      return readFixed(reader, name, depth)
    case OPEN_BRACE: {
      reader.checkDepth(depth)
      reader.at++
      const columns = readHeader(reader, depth + 1)
      reader.expect(CLOSE_BRACE, 'a closing brace')
      return { kind: 'group', name, columns }
    }
    case OPEN_BRACKET: {
      reader.checkDepth(depth + 1)
      reader.at++
      const columns = readHeader(reader, depth + 2)
      reader.expect(CLOSE_BRACKET, 'a closing bracket')
      return { kind: 'rows', name, columns }
    }
    default:
      return { kind: 'cell', name }
  }
}

/** The ends of bare texts in a header. */
const NAME_ENDS = endsOf(COMMA, EQUALS, OPEN_BRACE, OPEN_BRACKET, CLOSE_BRACE, CLOSE_BRACKET)
const AFFIX_ENDS = endsOf(COMMA, ASTERISK, QUOTE, CLOSE_BRACE, CLOSE_BRACKET)

function readName(reader: Reader): string {
  if (reader.next === QUOTE) return reader.quoted()
  const name = reader.bare(NAME_ENDS)
  if (name === '') throw reader.error('a column name expected')
  return name
}

/** A constant, or a pattern if the mark follows a text or is alone. */
function readFixed(reader: Reader, name: string, depth: number): Column {
  const c = reader.next
  if (c === OPEN_BRACE || c === OPEN_BRACKET) {
    return { kind: 'constant', name, value: readInline(reader, depth) }
  }
  const quoted = c === QUOTE
  const text = quoted ? reader.quoted() : reader.bare(AFFIX_ENDS)
  if (!reader.skip(ASTERISK)) {
    if (text === '' && !quoted) throw reader.error('a value expected')
    return { kind: 'constant', name, value: quoted ? text : bareValue(text) }
  }
  const suffix = reader.next === QUOTE ? reader.quoted() : reader.bare(AFFIX_ENDS)
  return { kind: 'pattern', name, prefix: text, suffix }
}

const MISSING = Symbol('missing')

/** A group's columns, with data that every row of the group needs. */
interface TableMembers {
  readonly columns: readonly Column[]
  /** The keys of a row that has all members. */
  readonly keys: readonly string[]
  /** The first column that is no constant; -1 if all are. */
  readonly first: number
}

const membersOf = new WeakMap<readonly Column[], TableMembers>()

function known(columns: readonly Column[]): TableMembers {
  let members = membersOf.get(columns)
  if (members === undefined) {
    members = {
      columns,
      keys: columns.map(column => column.name),
      first: columns.findIndex(column => column.kind !== 'constant'),
    }
    membersOf.set(columns, members)
  }
  return members
}

/** What the rows are in: lines of a table, a cell, or the parentheses of an object in its shape. */
type Within = 'table' | 'cell' | 'shape'

/** The ends of a bare text in a cell. */
const CELL_ENDS: Readonly<Record<Within, Ends>> = {
  table: endsOf(COMMA),
  cell: endsOf(COMMA, SEMICOLON, CLOSE_BRACKET),
  shape: endsOf(COMMA, CLOSE_PARENTHESIS),
}

/** Reads the cells of one table, or of the rows in one cell. */
export class RowReader {
  readonly #reader: Reader
  readonly #within: Within
  readonly #ends: Ends
  #rowEnded = false
  #firstCell = true

  constructor(reader: Reader, within: Within) {
    this.#reader = reader
    this.#within = within
    this.#ends = CELL_ENDS[within]
  }

  /** The only row, all of it. */
  only(columns: readonly Column[], depth: number): ObjectValue {
    this.startRow()
    const row = this.row(columns, depth)
    this.endRow()
    return row
  }

  startRow(): void {
    this.#rowEnded = false
    this.#firstCell = true
  }

  /** Checks that nothing is left of the row. The place is then at the character that ended it. */
  endRow(): void {
    if (!this.#rowEnded && !this.#atEnd()) throw this.#reader.error('more cells than columns')
  }

  /** The first cell of a row whose object is the value of a key. */
  keyCell(column: CellColumn | PatternColumn): string {
    const reader = this.#reader
    this.#nextCell()
    const quoted = reader.next === QUOTE
    const key = quoted ? reader.quoted() : reader.bare(this.#ends)
    if (key === '' && !quoted) throw reader.error('a key expected')
    return this.#wrap(column, key)
  }

  /** One object from its cells. */
  row(columns: readonly Column[], depth: number): ObjectValue {
    return this.#members(known(columns), depth, false) as ObjectValue
  }

  /**
   * @param optional whether the object may be missing (all cells are empty) or `null` (only the
   *   first cell is filled, with `null`)
   */
  #members(members: TableMembers, depth: number, optional: boolean): Value | typeof MISSING {
    const { columns, first } = members
    const values: Value[] = []
    let keys: string[] | null = null
    let shown = 0
    let startsNull = false
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i]!
      let value: Value | typeof MISSING
      if (column.kind === 'constant') {
        this.#reader.countCell()
        value = column.value
      } else {
        value =
          column.kind === 'group'
            ? this.#members(known(column.columns), depth + 1, true)
            : this.#leaf(column, depth + 1)
        if (value !== MISSING) {
          shown++
          if (i === first) startsNull = value === null
        }
      }
      if (value === MISSING) keys ??= members.keys.slice(0, i)
      else {
        keys?.push(column.name)
        values.push(value)
      }
    }
    if (optional && shown === 0) return MISSING
    if (optional && shown === 1 && startsNull) return null
    return new ObjectValue(keys ?? members.keys, values)
  }

  #leaf(column: Leaf, depth: number): Value | typeof MISSING {
    const reader = this.#reader
    if (this.#rowEnded) {
      reader.countCell()
      return MISSING
    }
    this.#nextCell()
    if (this.#rowEnded) return MISSING
    const c = reader.next
    if (c === COMMA || this.#atEnd()) return MISSING
    if (c === QUOTE) return this.#wrap(column, reader.quoted())
    if (column.kind === 'pattern') {
      const text = reader.bare(this.#ends)
      if (text === ABSENT_MARK) return MISSING
      return text === 'null' ? null : this.#wrap(column, text)
    }
    if (c === OPEN_BRACKET) {
      return column.kind === 'rows' ? this.#rows(column.columns, depth) : readInline(reader, depth)
    }
    if (c === OPEN_BRACE) return readInline(reader, depth)
    const shaped = reader.readShaped?.(depth)
    if (shaped !== undefined) return shaped
    const text = reader.bare(this.#ends)
    return text === ABSENT_MARK ? MISSING : bareValue(text)
  }

  #wrap(column: Leaf, text: string): string {
    return column.kind === 'pattern' ? column.prefix + text + column.suffix : text
  }

  /** Moves over the comma in front of a cell that is not the first; without one the row ends. */
  #nextCell(): void {
    if (this.#firstCell) this.#firstCell = false
    else if (!this.#reader.skip(COMMA)) {
      if (!this.#atEnd()) throw this.#reader.error('a comma expected')
      this.#rowEnded = true
    }
  }

  #atEnd(): boolean {
    const { next } = this.#reader
    if (this.#within === 'cell') return next === SEMICOLON || next === CLOSE_BRACKET
    if (this.#within === 'shape') return next === CLOSE_PARENTHESIS
    return next === LINE_FEED || Number.isNaN(next)
  }

  /** The rows in a cell. */
  #rows(columns: readonly Column[], depth: number): Value {
    const reader = this.#reader
    reader.checkDepth(depth)
    reader.at++
    const rows: ObjectValue[] = []
    if (reader.skip(CLOSE_BRACKET)) return rows
    const inner = new RowReader(reader, 'cell')
    do {
      inner.startRow()
      rows.push(inner.row(columns, depth + 1))
      inner.endRow()
    } while (reader.skip(SEMICOLON))
    reader.expect(CLOSE_BRACKET, 'a closing bracket')
    return rows
  }
}
