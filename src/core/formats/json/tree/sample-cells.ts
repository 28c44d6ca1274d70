import type { ObjectValue } from '../../../json/value.ts'
import { firstWordEnd, middleOf } from '../../../tokens/safe-boundary.ts'
import { escapeText } from '../../bare-text.ts'
import { createGaps, NO_GAPS } from './cell-gaps.ts'
import { CellCollector, type CollectedRows, rowsColumnsOf, writeRowsCell } from './collect-cells.ts'
import type { Column, Leaf } from './column.ts'
import type { ShapeWriter } from './pricer.ts'
import { NOT_IN_LINE, type Separator } from './syntax.ts'
import { createLayout, RowWriter } from './write-table.ts'

/** Rows of a table, for any separator between their cells. */
export interface SampleCells {
  /**
   * Whether empty cells of a row stand together before a filled one. `undefined`: the text of the
   * rows shows whether they may.
   */
  readonly hasGaps: boolean | undefined
  between(separator: Separator): SeparatedCells
}

export interface SeparatedCells {
  /**
   * What the cells of each leaf contain, from the first row to the last. Only their tokens with a
   * space before them are to be compared with those without, so they may lack their ends.
   */
  readonly texts: ReadonlyMap<Leaf, readonly string[]>
  /**
   * The rows, each on a line, with a space before each cell of these leaves. Only their tokens are
   * to be compared with those of other separators, so cells may lack what is the same in all.
   */
  counted(this: void, spaced: ReadonlySet<Leaf>): string
  /** The rows in full, as a table has them; `null` if they must be written again. */
  rows(this: void, spaced: ReadonlySet<Leaf>): string | null
}

const COMMA = ','

/** A cell that begins with one of these is in quotes or brackets, whatever separates it. */
const CLOSED = '"[{'

interface SampleOptions {
  /** Whether tokens add up at safe boundaries, so that cells may lack a part. */
  readonly additive?: boolean
  /** Of objects in cells; without quotes around them, separators may be in such cells. */
  readonly shapes?: ShapeWriter | undefined
  /** Writes the cells of a row. Returns whether they are cells; absent for rows of a table. */
  readonly write?: WriteCells
}

type WriteCells = (writer: RowWriter, columns: readonly Column[], row: ObjectValue) => boolean

const writeRow: WriteCells = (writer, columns, row) => writer.row(columns, row)

export function sampleCells(
  rows: readonly ObjectValue[],
  columns: readonly Column[],
  { additive = false, shapes, write = writeRow }: SampleOptions = {},
): SampleCells {
  const collected = collectCells(rows, columns, { additive, shapes, write })
  return collected ?? new RewrittenCells(rows, columns, shapes, write)
}

/**
 * Rows that are written once for all separators, since only bare strings with a separator in them
 * differ. Of a small table's whole encoding, to write them four times took a sixth.
 * @returns `null` if a row is written as itself, or a cell has rows with rows in their cells
 */
function collectCells(
  rows: readonly ObjectValue[],
  columns: readonly Column[],
  { additive, shapes, write }: Omit<SampleOptions, 'write'> & { readonly write: WriteCells },
): CollectedCells | null {
  const rowsColumns = rowsColumnsOf(columns)
  if (rowsColumns.some(column => rowsColumnsOf(column.columns).length > 0)) return null
  const collector = new CellCollector(rowsColumns)
  const writer = new RowWriter(createLayout(COMMA, { shapes }), NOT_IN_LINE)
  collector.watch(writer)
  for (const row of rows) {
    collector.startLine()
    if (!write(writer, columns, row)) return null
  }
  // Brackets in cells may hold commas in a row.
  const isFlat = shapes === undefined && rowsColumns.length === 0
  const hasGaps = isFlat ? undefined : writer.hasGaps
  return new CollectedCells(collector.end(columns), additive === true, hasGaps)
}

/** The cells of a leaf, and what of them is counted. */
interface Cells {
  /** In full; most are never asked for. */
  readonly whole: () => readonly string[]
  /** For the choice of a separator. */
  readonly counted: readonly string[]
  /** For the choice of a space before them. */
  readonly starts: readonly string[]
}

class CollectedCells implements SampleCells {
  readonly hasGaps: boolean | undefined
  readonly #all: CollectedRows
  /** The cells of each leaf on lines, in which a separator is found fast; empty if none matters. */
  readonly #lines: readonly string[]
  readonly #additive: boolean
  readonly #cells: readonly Cells[]

  /** @param hasGaps `undefined`: not known */
  constructor(all: CollectedRows, additive: boolean, hasGaps: boolean | undefined) {
    this.hasGaps = hasGaps
    this.#all = all
    this.#lines = all.cells.map(({ texts, isInner, rows }) =>
      isInner || rows !== null ? '' : texts.join('\n'),
    )
    this.#additive = additive
    this.#cells = all.cells.map(({ texts }) =>
      this.#cellsOf(() => texts, additive ? texts.map(cut) : texts),
    )
  }

  between(separator: Separator): SeparatedCells {
    const { leaves } = this.#all
    const cells = leaves.map((_, i) => this.#separated(i, separator))
    return {
      texts: new Map(leaves.map((leaf, i) => [leaf, cells[i]!.starts])),
      counted: spaced => {
        return this.#rows(
          separator,
          spaced,
          cells.map(each => each.counted),
        )
      },
      rows: spaced => {
        return this.#rows(
          separator,
          spaced,
          cells.map(each => each.whole()),
        )
      },
    }
  }

  #cellsOf(whole: Cells['whole'], counted: readonly string[]): Cells {
    return { whole, counted, starts: this.#additive ? counted.map(startOf) : counted }
  }

  #rows(
    separator: Separator,
    spaced: ReadonlySet<Leaf>,
    texts: readonly (readonly string[])[],
  ): string {
    const { leaves, cells, order, gaps, tail } = this.#all
    const isSpaced = leaves.map(leaf => spaced.has(leaf))
    const hasSpacedRows = cells.some(({ isInner }, i) => isInner && isSpaced[i]!)
    const before = isSpaced.map(isWide => `${separator}${isWide ? ' ' : ''}`)
    const next = leaves.map(() => 0)
    let out = ''
    for (let i = 0; i < order.length; i++) {
      const leaf = order[i]!
      const gap = gaps[i]!
      // The first cell of a line follows no separator.
      if (gap === COMMA) out += before[leaf]
      else if (!gap.endsWith(COMMA)) out += gap
      else out += gap.slice(0, -1).replaceAll(COMMA, separator) + before[leaf]
      const at = next[leaf]!++
      const rows = hasSpacedRows ? cells[leaf]!.rows?.[at] : null
      out += rows == null ? texts[leaf]![at]! : writeRowsCell(rows, isSpaced)
    }
    return out + tail
  }

  #separated(leaf: number, separator: Separator): Cells {
    const cells = this.#cells[leaf]!
    if (!this.#lines[leaf]!.includes(separator)) return cells
    if (separator === ' ' && this.#all.leaves[leaf] === this.#all.last) return cells
    const { texts, shaped } = this.#all.cells[leaf]!
    const isKept = (text: string, i: number) => isApart(text, separator) || shaped?.has(i) === true
    const write = (text: string, i: number) => (isKept(text, i) ? text : escapeText(text))
    const written = () => texts.map(write)
    if (!this.#additive) return this.#cellsOf(written, written())
    // What lacks its middle has nothing that quotes would change.
    const quoted = (text: string, i: number) => {
      const whole = texts[i]!
      if (text === whole) return write(whole, i)
      return isKept(whole, i) ? text : `"${text}"`
    }
    return this.#cellsOf(written, cells.counted.map(quoted))
  }
}

/** A middle that is not counted at all is worth little work. */
const SHORTEST_MIDDLE = 4

/** Characters that quotes change: a middle with them is not the same in every table. */
const CHANGED_BY_QUOTES = /["\\\t]/

/** The cell without its middle, which has the same tokens whatever the separator. */
function cut(text: string): string {
  if (text.length <= SHORTEST_MIDDLE || CLOSED.includes(text[0]!)) return text
  const middle = middleOf(text, SHORTEST_MIDDLE)
  if (middle === null || CHANGED_BY_QUOTES.test(text)) return text
  return text.slice(0, middle.start) + text.slice(middle.end)
}

/** The cell up to its first word end: what follows has the same tokens, space or not. */
function startOf(text: string): string {
  return text.slice(0, firstWordEnd(text))
}

/** Whether a cell may stay as it is between these separators. */
function isApart(text: string, separator: Separator): boolean {
  return CLOSED.includes(text[0]!) || !text.includes(separator)
}

/** Rows that are written again for each separator. */
class RewrittenCells implements SampleCells {
  readonly hasGaps = undefined
  readonly #rows: readonly ObjectValue[]
  readonly #columns: readonly Column[]
  readonly #shapes: ShapeWriter | undefined
  readonly #writeCells: WriteCells

  constructor(
    rows: readonly ObjectValue[],
    columns: readonly Column[],
    shapes: ShapeWriter | undefined,
    write: WriteCells,
  ) {
    this.#writeCells = write
    this.#rows = rows
    this.#columns = columns
    this.#shapes = shapes
  }

  between(separator: Separator): SeparatedCells {
    const texts = new Map<Leaf, string[]>()
    const gaps = separator === ' ' ? createGaps(this.#columns, NO_GAPS) : undefined
    const shapes = this.#shapes
    const writer = new RowWriter(createLayout(separator, { gaps, shapes }))
    writer.observe = (leaf, text) => {
      const known = texts.get(leaf)
      if (known === undefined) texts.set(leaf, [text])
      else known.push(text)
    }
    const tight = this.#write(writer)
    return {
      texts,
      counted: spaced =>
        spaced.size === 0
          ? tight
          : this.#write(new RowWriter(createLayout(separator, { spaced, gaps, shapes }))),
      rows: () => null,
    }
  }

  #write(writer: RowWriter): string {
    for (const row of this.#rows) {
      writer.out += '\n'
      this.#writeCells(writer, this.#columns, row)
    }
    return writer.out
  }
}
