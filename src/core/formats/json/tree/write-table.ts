import { ObjectValue, type Value } from '../../../json/value.ts'
import { firstLeaf, type Gaps } from './cell-gaps.ts'
import type { Column, ConstantColumn, Leaf } from './column.ts'
import type { ShapeWriter } from './pricer.ts'
import {
  ABSENT_MARK,
  FEWEST_MARKED,
  INNER_SEPARATOR,
  NOT_IN_AFFIX,
  NOT_IN_HEADER,
  NOT_INLINE,
  notInCell,
  PATTERN_MARK,
  ROW_SEPARATOR,
  type Separator,
} from './syntax.ts'
import { writeBraces, writeInline } from './write-inline.ts'
import { isScalar, writeAffix, writePatterned, writeScalar, writeText } from './write-text.ts'

/** How the cells of a table stand beside one another. */
export interface Layout {
  readonly separator: Separator
  /** Leaves with a space between the separator and the cell. */
  readonly spaced: ReadonlySet<Leaf>
  /** Of a table whose separator is a space; `undefined` elsewhere. */
  readonly gaps: Gaps | undefined
  /** Writes the objects in cells that have a shape; `undefined` if there are no shapes. */
  readonly shapes: ShapeWriter | undefined
  /** Whether empty cells that stand together have a mark. */
  readonly marksGaps: boolean
}

/** A layout without marks. Layouts are written out, since what a spread makes is slow to read. */
export function createLayout(
  separator: Separator,
  { spaced = NO_LEAVES, gaps, shapes }: LayoutOptions = {},
): Layout {
  return { separator, spaced, gaps, shapes, marksGaps: false }
}

interface LayoutOptions {
  readonly spaced?: ReadonlySet<Leaf>
  readonly gaps?: Gaps | undefined
  readonly shapes?: ShapeWriter | undefined
}

const NO_LEAVES: ReadonlySet<Leaf> = new Set()

/**
 * The columns' names, with constants, patterns and groups. With a space as separator no bare name
 * has a space.
 */
export function writeHeader(columns: readonly Column[], layout: Layout): string {
  let out = ''
  for (const column of columns) {
    if (out !== '') out += gapBefore(column, layout)
    out += writeColumn(column, layout)
  }
  return out
}

/** A gap belongs to the first cell after it; a column without a cell has no gap of its own. */
function gapBefore(column: Column, { separator, spaced, gaps }: Layout): string {
  if (gaps !== undefined) {
    const leaf = firstLeaf(column)
    return leaf === null ? separator : gaps.before(leaf)
  }
  if (column.kind === 'constant' || column.kind === 'group') return separator
  return spaced.has(column) ? `${separator} ` : separator
}

function writeColumn(column: Column, layout: Layout): string {
  const name = writeText(column.name, NOT_IN_HEADER | notInCell(layout.separator))
  switch (column.kind) {
    case 'cell':
      return name
    case 'constant':
      return `${name}=${writeConstant(column, layout)}`
    case 'pattern': {
      const not = NOT_IN_AFFIX | notInCell(layout.separator)
      return `${name}=${writeAffix(column.prefix, not, 0)}${PATTERN_MARK}${writeAffix(column.suffix, not, 1)}`
    }
    case 'group':
      return `${name}{${writeHeader(column.columns, layout)}}`
    case 'rows':
      return `${name}[${writeHeader(column.columns, innerLayout(layout))}]`
  }
}

/** Bare text with the pattern's mark in it would be a pattern. */
function writeConstant({ value }: ConstantColumn, layout: Layout): string {
  if (typeof value === 'string' && value.includes(PATTERN_MARK)) return writeText(value, -1)
  return isScalar(value)
    ? writeScalar(value, NOT_IN_AFFIX | notInCell(layout.separator))
    : writeInline(value)
}

/** Rows inside a cell have commas between their cells, whatever the table has. */
function innerLayout(layout: Layout): Layout {
  const { spaced, shapes } = layout
  return createLayout(INNER_SEPARATOR, { spaced, shapes })
}

/** Writes the rows of one table, or of one cell. */
export class RowWriter {
  out = ''
  /** Receives every cell of a leaf that is written, and how many separators stand before it. */
  observe: ((leaf: Leaf, text: string, separators: number) => void) | null = null
  /** Receives every nested value in brackets; `isRows` if these hold the rows of a column. */
  onBracket: ((text: string, isRows: boolean) => void) | null = null
  /** Receives the columns of each row inside a cell that is not the first there, before it. */
  onNextRow: ((columns: readonly Column[]) => void) | null = null
  /** Writes the objects and arrays in cells; `null` if the layout decides. */
  inline: ((value: Value) => string) | null = null
  readonly #layout: Layout
  readonly #not: number
  /** Writes the rows in cells; made when there are some, since few tables have them. */
  #inner: RowWriter | null = null
  /** Separators that stand before the next cell; those after the last cell are left out. */
  #pending = 0
  /** The same as text, if the layout has gaps. */
  #gaps = ''
  /** Empty cells since the last filled one. */
  #empty = 0
  /** Whether empty cells of the rows stand together before a filled one. */
  hasGaps = false
  #first = true
  /** Cells of this row that are not empty, and the last of them. */
  #cells = 0
  #lastCell = ''

  /** @param not what bare strings in a cell must not contain */
  constructor(layout: Layout, not = notInCell(layout.separator)) {
    this.#layout = layout
    this.#not = not
  }

  startRow(): void {
    this.#pending = 0
    this.#gaps = ''
    this.#empty = 0
    this.#first = true
    this.#cells = 0
  }

  /**
   * A row of a table whose rows are objects. If the only cell is an object, a reader would take it
   * for the row itself, so the row is written as an object. Returns whether the row was written in
   * cells.
   */
  row(columns: readonly Column[], row: ObjectValue): boolean {
    const before = this.out
    this.startRow()
    this.members(columns, row)
    if (this.#cells !== 1 || !this.#lastCell.startsWith('{')) return true
    this.out = before
    this.bracketed(row)
    return false
  }

  /** Writes a row as an object in braces, whatever the columns are. */
  bracketed(row: ObjectValue): void {
    this.out += this.#bracket(writeBraces(row, this.#layout.shapes))
  }

  /** A cell before the columns: the key of a keyed table. */
  keyCell(text: string): void {
    this.#cell(null, writeText(text, this.#not))
  }

  /** The cells of one object; a member that is not there leaves its cells empty. */
  members(columns: readonly Column[], { keys, values }: ObjectValue): void {
    let at = 0
    for (const column of columns) {
      const value = keys[at] === column.name ? values[at++] : undefined
      if (column.kind === 'constant') continue
      if (column.kind === 'group') this.#group(column.columns, value)
      else this.#cell(column, value === undefined ? '' : this.#text(column, value))
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
      else this.#cell(column, first ? 'null' : '')
      first = false
    }
  }

  #text(column: Leaf, value: Value): string {
    if (value === null) return 'null'
    const not = this.#layout.gaps?.notIn(column) ?? this.#not
    if (column.kind === 'pattern') {
      const text = value as string
      const own = text.slice(column.prefix.length, text.length - column.suffix.length)
      return writePatterned(own, not)
    }
    if (column.kind === 'rows') return this.#rows(column.columns, value as readonly ObjectValue[])
    return isScalar(value) ? writeScalar(value, not) : this.#bracket(this.#inlineText(value))
  }

  #inlineText(value: Value): string {
    return this.inline === null ? writeInline(value, this.#layout.shapes) : this.inline(value)
  }

  #bracket(text: string): string {
    this.onBracket?.(text, false)
    return text
  }

  #rows(columns: readonly Column[], rows: readonly ObjectValue[]): string {
    const writer = this.#innerWriter()
    writer.observe = this.observe
    writer.onBracket = this.onBracket
    writer.onNextRow = this.onNextRow
    writer.inline = this.inline
    writer.out = ''
    for (let i = 0; i < rows.length; i++) {
      if (i > 0) {
        writer.out += ROW_SEPARATOR
        this.onNextRow?.(columns)
      }
      writer.startRow()
      writer.members(columns, rows[i]!)
    }
    const text = `[${writer.out}]`
    this.onBracket?.(text, true)
    return text
  }

  #innerWriter(): RowWriter {
    // Rows in rows are written while others of their writer are unfinished.
    if (this.#not === NOT_INLINE) return new RowWriter(this.#layout, NOT_INLINE)
    this.#inner ??= new RowWriter(innerLayout(this.#layout), NOT_INLINE)
    return this.#inner
  }

  #cell(leaf: Leaf | null, own: string): void {
    const { separator, spaced, gaps, marksGaps } = this.#layout
    const isFirst = this.#first
    if (!isFirst) {
      this.#pending++
      if (gaps !== undefined) this.#gaps += leaf === null ? separator : gaps.before(leaf)
    }
    this.#first = false
    if (own === '') {
      this.#empty++
      this.#gaps += marksGaps && gaps !== undefined ? ABSENT_MARK : ''
      return
    }
    const empty = this.#empty
    this.#empty = 0
    if (empty >= FEWEST_MARKED) this.hasGaps = true
    const text = marksGaps && own === ABSENT_MARK ? `"${ABSENT_MARK}"` : own
    if (leaf !== null) this.observe?.(leaf, text, this.#pending)
    if (gaps !== undefined) {
      const isKept = !marksGaps || empty >= FEWEST_MARKED
      this.out += isKept ? this.#gaps : this.#gaps.replaceAll(ABSENT_MARK, '')
      this.#gaps = ''
      this.#pending = 0
    } else if (this.#pending > 0) {
      this.out += this.#between(empty)
      this.#pending = 0
      if (leaf !== null && spaced.has(leaf)) this.out += ' '
    }
    this.out += text
    this.#cells++
    this.#lastCell = text
  }

  /** The separators before a cell, and the marks of empty cells between them. */
  #between(empty: number): string {
    const { separator, marksGaps } = this.#layout
    if (this.#pending === 1 && empty < FEWEST_MARKED) return separator
    if (!marksGaps || empty < FEWEST_MARKED) return separator.repeat(this.#pending)
    const marked = `${ABSENT_MARK}${separator}`.repeat(empty)
    // At the start of a row there is no separator before the first of them.
    return this.#pending === empty ? marked : separator + marked
  }
}
