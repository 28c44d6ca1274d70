import type { ObjectValue } from '../../../json/value.ts'
import { firstWordEnd, middleOf } from '../../../tokens/safe-boundary.ts'
import { escapeText } from '../../bare-text.ts'
import { createGaps, leavesOf, NO_GAPS } from './cell-gaps.ts'
import type { Column, Leaf } from './column.ts'
import type { ShapeWriter } from './pricer.ts'
import { NOT_IN_LINE, type Separator } from './syntax.ts'
import { RowWriter } from './write-table.ts'

/** Rows of a table, for any separator between their cells. */
export interface SampleCells {
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

const NO_LEAVES: ReadonlySet<Leaf> = new Set()

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
  const collected = shapes === undefined ? collectCells(rows, columns, additive, write) : null
  return collected ?? new RewrittenCells(rows, columns, shapes, write)
}

/**
 * Rows that are written once for all separators, since only bare strings with a separator in them
 * differ. Of a small table's whole encoding, to write them four times took a sixth.
 * @returns `null` if a row is written as itself, or has rows in a cell
 */
function collectCells(
  rows: readonly ObjectValue[],
  columns: readonly Column[],
  additive: boolean,
  write: WriteCells,
): SampleCells | null {
  if (hasRowsColumn(columns)) return null
  const writer = new RowWriter({ separator: COMMA, spaced: NO_LEAVES }, NOT_IN_LINE)
  const leaves = new Map<Leaf, number>()
  const texts: string[][] = []
  const order: number[] = []
  const gaps: string[] = []
  let feeds = ''
  writer.observe = (leaf, text, separators) => {
    let index = leaves.get(leaf)
    if (index === undefined) {
      index = texts.length
      leaves.set(leaf, index)
      texts.push([])
    }
    texts[index]!.push(text)
    order.push(index)
    gaps.push(separators === 1 ? feeds + COMMA : feeds + COMMA.repeat(separators))
    feeds = ''
  }
  for (const row of rows) {
    feeds += '\n'
    if (!write(writer, columns, row)) return null
  }
  const all = {
    leaves: [...leaves.keys()],
    texts,
    order,
    gaps,
    tail: feeds,
    last: leavesOf(columns).at(-1),
  }
  return new CollectedCells(all, additive)
}

interface Collected {
  readonly leaves: readonly Leaf[]
  readonly texts: readonly (readonly string[])[]
  /** The leaf of each cell, as an index. */
  readonly order: readonly number[]
  /** The line feeds and commas before each cell. */
  readonly gaps: readonly string[]
  /** What follows the last cell. */
  readonly tail: string
  /** The leaf whose cells have the rest of their lines, if spaces separate them. */
  readonly last: Leaf | undefined
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
  readonly #all: Collected
  /** The cells of each leaf on lines, in which a separator is found fast. */
  readonly #lines: readonly string[]
  readonly #additive: boolean
  readonly #cells: readonly Cells[]

  constructor(all: Collected, additive: boolean) {
    this.#all = all
    this.#lines = all.texts.map(cells => cells.join('\n'))
    this.#additive = additive
    this.#cells = all.texts.map(whole =>
      this.#cellsOf(() => whole, additive ? whole.map(cut) : whole),
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
    const { leaves, order, gaps, tail } = this.#all
    const before = leaves.map(leaf => `${separator}${spaced.has(leaf) ? ' ' : ''}`)
    const next = leaves.map(() => 0)
    let out = ''
    for (let i = 0; i < order.length; i++) {
      const leaf = order[i]!
      const gap = gaps[i]!
      // The first cell of a line follows no separator.
      if (gap === COMMA) out += before[leaf]
      else if (!gap.endsWith(COMMA)) out += gap
      else out += gap.slice(0, -1).replaceAll(COMMA, separator) + before[leaf]
      out += texts[leaf]![next[leaf]!++]
    }
    return out + tail
  }

  #separated(leaf: number, separator: Separator): Cells {
    const cells = this.#cells[leaf]!
    if (!this.#lines[leaf]!.includes(separator)) return cells
    if (separator === ' ' && this.#all.leaves[leaf] === this.#all.last) return cells
    const texts = this.#all.texts[leaf]!
    const write = (text: string) => (isApart(text, separator) ? text : escapeText(text))
    const written = () => texts.map(write)
    if (!this.#additive) return this.#cellsOf(written, written())
    // What lacks its middle has nothing that quotes would change.
    const quoted = (text: string, i: number) => {
      const whole = texts[i]!
      if (text === whole) return write(whole)
      return isApart(whole, separator) ? text : `"${text}"`
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

function hasRowsColumn(columns: readonly Column[]): boolean {
  return columns.some(
    column => column.kind === 'rows' || (column.kind === 'group' && hasRowsColumn(column.columns)),
  )
}

/** Rows that are written again for each separator. */
class RewrittenCells implements SampleCells {
  readonly #rows: readonly ObjectValue[]
  readonly #columns: readonly Column[]
  readonly #shapes: { readonly shapes?: ShapeWriter }
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
    this.#shapes = shapes === undefined ? {} : { shapes }
  }

  between(separator: Separator): SeparatedCells {
    const texts = new Map<Leaf, string[]>()
    const gaps = separator === ' ' ? { gaps: createGaps(this.#columns, NO_GAPS) } : {}
    const layout = { separator, ...gaps, ...this.#shapes }
    const writer = new RowWriter({ ...layout, spaced: NO_LEAVES })
    writer.observe = (leaf, text) => {
      const known = texts.get(leaf)
      if (known === undefined) texts.set(leaf, [text])
      else known.push(text)
    }
    const tight = this.#write(writer)
    return {
      texts,
      counted: spaced =>
        spaced.size === 0 ? tight : this.#write(new RowWriter({ ...layout, spaced })),
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
