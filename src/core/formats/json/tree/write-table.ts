import { ObjectValue, type Value } from '../../../json/value.ts'
import type { Column, ConstantColumn, Leaf } from './column.ts'
import type { ShapeWriter } from './pricer.ts'
import {
  ABSENT_MARK,
  NOT_IN_AFFIX,
  NOT_IN_CELL,
  NOT_IN_HEADER,
  NOT_INLINE,
  PATTERN_MARK,
  ROW_SEPARATOR,
  SEPARATOR,
} from './syntax.ts'
import { writeBraces, writeInline } from './write-inline.ts'
import { isScalar, writeAffix, writePatterned, writeScalar, writeText } from './write-text.ts'

/** The columns' names, with constants, patterns and groups. */
export function writeHeader(columns: readonly Column[]): string {
  return columns.map(writeColumn).join(SEPARATOR)
}

/** What all cells of a column begin and end with. */
function writeAround({ prefix, suffix }: { prefix: string; suffix: string }): string {
  const end = writeAffix(suffix, NOT_IN_AFFIX, 1)
  return writeAffix(prefix, NOT_IN_AFFIX, 0) + PATTERN_MARK + end
}

function writeColumn(column: Column): string {
  const name = writeText(column.name, NOT_IN_HEADER)
  switch (column.kind) {
    case 'cell':
      return name
    case 'constant':
      return `${name}=${writeConstant(column)}`
    case 'pattern':
      return `${name}=${writeAround(column)}`
    case 'group':
      return `${name}{${writeHeader(column.columns)}}`
    case 'rows':
      return `${name}[${writeHeader(column.columns)}]`
  }
}

/** Bare text with the pattern's mark in it would be a pattern. */
function writeConstant({ value }: ConstantColumn): string {
  if (typeof value === 'string' && value.includes(PATTERN_MARK)) return writeText(value, -1)
  return isScalar(value) ? notAbsent(writeScalar(value, NOT_IN_AFFIX)) : writeInline(value)
}

/** The text of a scalar, in quotes if a reader would take it for an absent cell. */
function notAbsent(text: string): string {
  return text === ABSENT_MARK ? `"${ABSENT_MARK}"` : text
}

/** Writes the rows of one table, of one cell, or of one shape. */
export class RowWriter {
  out = ''
  /** Receives every nested value in brackets; `isRows` if these hold the rows of a column. */
  onBracket: ((text: string, isRows: boolean) => void) | null = null
  /** Writes the objects and arrays in cells; `null` if the shapes do. */
  inline: ((value: Value) => string) | null = null
  readonly #shapes: ShapeWriter | undefined
  readonly #not: number
  /** Writes the rows in cells; made when there are some, since few tables have them. */
  #inner: RowWriter | null = null
  /** Absent cells since the last one that is there; those after the last are left out. */
  #absent = 0
  /** Cells of this row that are there, and the last of them. */
  #cells = 0
  #lastCell = ''

  /**
   * @param shapes of objects in cells; `undefined` if there are none
   * @param not what bare strings in a cell must not contain
   */
  constructor(shapes: ShapeWriter | undefined, not = NOT_IN_CELL) {
    this.#shapes = shapes
    this.#not = not
  }

  startRow(): void {
    this.#absent = 0
    this.#cells = 0
  }

  /**
   * A row of a table whose rows are objects. If the only cell is an object, a reader would take it
   * for the row itself, so the row is written as an object.
   */
  row(columns: readonly Column[], row: ObjectValue): void {
    const before = this.out
    this.startRow()
    this.members(columns, row)
    if (this.#cells !== 1 || !this.#lastCell.startsWith('{')) return
    this.out = before
    this.bracketed(row)
  }

  /** Writes a row as an object in braces, whatever the columns are. */
  bracketed(row: ObjectValue): void {
    this.out += this.#bracket(writeBraces(row, this.#shapes))
  }

  /** A cell before the columns: the key of a keyed table. */
  keyCell(text: string): void {
    this.#cell(writeText(text, this.#not))
  }

  /** The cells of one object; a member that is not there leaves its cells absent. */
  members(columns: readonly Column[], { keys, values }: ObjectValue): void {
    let at = 0
    for (const column of columns) {
      const value = keys[at] === column.name ? values[at++] : undefined
      if (column.kind === 'constant') continue
      if (column.kind === 'group') this.#group(column.columns, value)
      else if (value === undefined) this.#absent++
      else this.#cell(this.#text(column, value))
    }
  }

  #group(columns: readonly Column[], value: Value | undefined): void {
    if (value instanceof ObjectValue) this.members(columns, value)
    else this.#emptyGroup(columns, value === null)
  }

  /** @param isNull whether the first cell is `null`, for the group as a whole */
  #emptyGroup(columns: readonly Column[], isNull: boolean): void {
    let first = isNull
    for (const column of columns) {
      if (column.kind === 'constant') continue
      if (column.kind === 'group') this.#emptyGroup(column.columns, first)
      else if (first) this.#cell('null')
      else this.#absent++
      first = false
    }
  }

  #text(column: Leaf, value: Value): string {
    if (value === null) return 'null'
    if (column.kind === 'pattern') {
      const text = value as string
      const own = text.slice(column.prefix.length, text.length - column.suffix.length)
      return writePatterned(own, this.#not)
    }
    if (column.kind === 'rows') return this.#rows(column.columns, value as readonly ObjectValue[])
    return isScalar(value) ? writeScalar(value, this.#not) : this.#bracket(this.#inlineText(value))
  }

  #inlineText(value: Value): string {
    return this.inline === null ? writeInline(value, this.#shapes) : this.inline(value)
  }

  #bracket(text: string): string {
    this.onBracket?.(text, false)
    return text
  }

  #rows(columns: readonly Column[], rows: readonly ObjectValue[]): string {
    const writer = this.#innerWriter()
    writer.onBracket = this.onBracket
    writer.inline = this.inline
    writer.out = ''
    for (let i = 0; i < rows.length; i++) {
      if (i > 0) writer.out += ROW_SEPARATOR
      writer.startRow()
      writer.members(columns, rows[i]!)
    }
    const text = `[${writer.out}]`
    this.onBracket?.(text, true)
    return text
  }

  #innerWriter(): RowWriter {
    // Rows in rows are written while others of their writer are unfinished.
    if (this.#not === NOT_INLINE) return new RowWriter(this.#shapes, NOT_INLINE)
    this.#inner ??= new RowWriter(this.#shapes, NOT_INLINE)
    return this.#inner
  }

  #cell(own: string): void {
    const text = notAbsent(own)
    if (this.#cells > 0) this.out += SEPARATOR
    if (this.#absent > 0) {
      this.out += `${ABSENT_MARK}${SEPARATOR}`.repeat(this.#absent)
      this.#absent = 0
    }
    this.out += text
    this.#cells++
    this.#lastCell = text
  }
}
