import type { ObjectValue } from '../../../json/value.ts'
import { firstWordEnd, middleOf } from '../../../tokens/safe-boundary.ts'
import { escapeText } from '../../bare-text.ts'
import type { Gaps } from './cell-gaps.ts'
import { CellCollector, type CollectedRows, writeRowsCell } from './collect-cells.ts'
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
  /** The rows with these gaps between their cells, to be compared with `counted` of separators. */
  mixed(gaps: Gaps): string
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

/**
 * Rows that are written once for all separators, since only bare strings with a separator in them
 * differ. Of a small table's whole encoding, to write them four times took a sixth.
 */
export function sampleCells(
  rows: readonly ObjectValue[],
  columns: readonly Column[],
  { additive = false, shapes, write = writeRow }: SampleOptions = {},
): SampleCells {
  const collector = new CellCollector(columns)
  const writer = new RowWriter(createLayout(COMMA, { shapes }), NOT_IN_LINE)
  collector.watch(writer)
  for (const row of rows) {
    collector.startLine()
    writer.out = ''
    if (!write(writer, columns, row)) collector.replaceLine(writer.out)
  }
  // Brackets in cells may hold commas in a row.
  const isFlat = shapes === undefined && !collector.hasRows
  const hasGaps = isFlat ? undefined : writer.hasGaps
  return new CollectedCells(collector.end(), additive, hasGaps)
}

/** What stands between cells, by the indexes of leaves. */
interface Signs {
  readonly before: readonly string[]
  /** What stands before a cell and the empty ones in front of it, so many in all. */
  skip(this: void, leaf: number, count: number): string
  /** Whether a space stands before the leaf's cells in the rows of a cell. */
  readonly isSpaced: readonly boolean[]
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
    this.#lines = all.cells.map(({ texts, depth, rows }) =>
      depth > 0 || rows !== null ? '' : texts.join('\n'),
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
          this.#signs(separator, spaced),
          cells.map(each => each.counted),
        )
      },
      rows: spaced => {
        // A table must know which of its rows are written as themselves.
        if (this.#all.lines.size > 0) return null
        return this.#rows(
          this.#signs(separator, spaced),
          cells.map(each => each.whole()),
        )
      },
    }
  }

  mixed(gaps: Gaps): string {
    const { leaves, outer } = this.#all
    const places = leaves.map(leaf => outer.indexOf(leaf))
    const cells = places.map((place, i) => {
      const next = outer[place + 1]
      return this.#separated(i, next === undefined || gaps.before(next) === ' ' ? ' ' : COMMA)
    })
    const signs = {
      before: leaves.map(leaf => gaps.before(leaf)),
      skip: (leaf: number, count: number) => {
        const end = places[leaf]! + 1
        return outer
          .slice(end - count, end)
          .map(each => gaps.before(each))
          .join('')
      },
      isSpaced: leaves.map(() => false),
    }
    return this.#rows(
      signs,
      cells.map(each => each.counted),
    )
  }

  #signs(separator: Separator, spaced: ReadonlySet<Leaf>): Signs {
    const isSpaced = this.#all.leaves.map(leaf => spaced.has(leaf))
    const before = isSpaced.map(isWide => `${separator}${isWide ? ' ' : ''}`)
    const skip = (leaf: number, count: number) => separator.repeat(count - 1) + before[leaf]!
    return { before, skip, isSpaced }
  }

  #cellsOf(whole: Cells['whole'], counted: readonly string[]): Cells {
    return { whole, counted, starts: this.#additive ? counted.map(startOf) : counted }
  }

  #rows({ before, skip, isSpaced }: Signs, texts: readonly (readonly string[])[]): string {
    const { leaves, cells, order, gaps, lines, tail } = this.#all
    const hasSpacedRows = cells.some(({ depth }, i) => depth > 0 && isSpaced[i]!)
    const next = leaves.map(() => 0)
    let out = ''
    for (let i = 0; i < order.length; i++) {
      const leaf = order[i]!
      const gap = gaps[i]!
      const at = next[leaf]!++
      const line = lines.get(i)
      if (line !== undefined) {
        out += gap.replaceAll(COMMA, '') + line
        continue
      }
      // The first cell of a line follows no separator.
      if (gap === COMMA) out += before[leaf]
      else if (!gap.endsWith(COMMA)) out += gap
      else {
        const feeds = gap.lastIndexOf('\n') + 1
        out += gap.slice(0, feeds) + skip(leaf, gap.length - feeds)
      }
      const rows = hasSpacedRows ? cells[leaf]!.rows?.[at] : null
      out += rows == null ? texts[leaf]![at]! : writeRowsCell(rows, isSpaced)
    }
    return out + tail
  }

  #separated(leaf: number, separator: Separator): Cells {
    const cells = this.#cells[leaf]!
    if (!this.#lines[leaf]!.includes(separator)) return cells
    // The last cell has the rest of its line.
    if (separator === ' ' && this.#all.leaves[leaf] === this.#all.outer.at(-1)) return cells
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
