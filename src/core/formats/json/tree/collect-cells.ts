import { leavesOf } from './cell-gaps.ts'
import type { Column, Leaf } from './column.ts'
import { INNER_SEPARATOR, ROW_SEPARATOR } from './syntax.ts'
import type { RowWriter } from './write-table.ts'

/** Rows of a table as cells, and what stands between them. */
export interface CollectedRows {
  /** The leaves that have cells, those of rows in cells too. */
  readonly leaves: readonly Leaf[]
  readonly cells: readonly LeafCells[]
  /** The leaf of each cell, as an index. */
  readonly order: readonly number[]
  /** The line feeds and commas before each cell. */
  readonly gaps: readonly string[]
  /** The lines of rows that are written as themselves, by the place of their only cell. */
  readonly lines: ReadonlyMap<number, string>
  /** What follows the last cell. */
  readonly tail: string
  /** The leaves that are cells of the table, from the first of a row to the last. */
  readonly outer: readonly Leaf[]
}

/** The cells of one leaf, from the first row to the last. */
interface LeafCells {
  readonly texts: readonly string[]
  /** How many cells with rows they are in; commas separate these whatever the table has. */
  readonly depth: number
  /** Of a leaf whose cells have rows: those rows; `null` for `null`. */
  readonly rows: readonly (RowsCell | null)[] | null
  /** The indexes of cells that a shape has written: these are never in quotes. */
  readonly shaped: ReadonlySet<number> | null
}

/** The rows in one cell, as their cells. */
export interface RowsCell {
  /** What stands before each cell, and after the last one. */
  readonly gaps: readonly string[]
  /** The leaf of each cell, as an index. */
  readonly order: readonly number[]
  /** The cells themselves: texts, or rows again. */
  readonly cells: readonly (string | RowsCell)[]
}

interface OpenLeaf {
  readonly texts: string[]
  readonly depth: number
  readonly rows: (RowsCell | null)[] | null
  shaped: Set<number> | null
}

/** Nested values that begin otherwise are written by a shape. */
const BRACKETS = '[{'

/** Rows of cells at one depth, as far as they are written. */
interface OpenRows {
  gaps: string[]
  order: number[]
  cells: (string | RowsCell)[]
  /** The ends of rows since the last cell. */
  ends: string
}

/** Collects the cells of a table with commas between them while a writer writes it. */
export class CellCollector {
  /** How many cells with rows are around the cells of a leaf, and around rows with such columns. */
  readonly #depths = new Map<Leaf | readonly Column[], number>()
  readonly #indexes = new Map<Leaf, number>()
  readonly #open: OpenLeaf[] = []
  readonly #order: number[] = []
  readonly #gaps: string[] = []
  readonly #lines = new Map<number, string>()
  /** Line feeds since the last cell. */
  #feeds = ''
  /** The rows in the cells that are written, by their depth. */
  readonly #rows: OpenRows[] = []
  #isShaped = false
  readonly #columns: readonly Column[]

  constructor(columns: readonly Column[]) {
    this.#columns = columns
    this.#measure(columns, 0)
  }

  /** Whether a leaf has rows in its cells. */
  get hasRows(): boolean {
    return this.#rows.length > 0
  }

  /** Receives what the writer writes from now on. */
  watch(writer: RowWriter): void {
    writer.observe = (leaf, text, separators) => this.#cell(leaf, text, separators)
    writer.onBracket = text => {
      this.#isShaped = !BRACKETS.includes(text[0]!)
    }
    if (this.hasRows) {
      writer.onNextRow = columns => {
        this.#rows[this.#depths.get(columns)! - 1]!.ends += ROW_SEPARATOR
      }
    }
  }

  startLine(): void {
    this.#feeds += '\n'
  }

  /** The row whose only cell was the last one is written as itself. */
  replaceLine(text: string): void {
    this.#lines.set(this.#order.length - 1, text)
  }

  end(): CollectedRows {
    return {
      leaves: [...this.#indexes.keys()],
      cells: this.#open,
      order: this.#order,
      gaps: this.#gaps,
      lines: this.#lines,
      tail: this.#feeds,
      outer: leavesOf(this.#columns),
    }
  }

  #measure(columns: readonly Column[], depth: number): void {
    if (depth > this.#rows.length) this.#rows.push({ gaps: [], order: [], cells: [], ends: '' })
    this.#depths.set(columns, depth)
    for (const leaf of leavesOf(columns)) {
      this.#depths.set(leaf, depth)
      if (leaf.kind === 'rows') this.#measure(leaf.columns, depth + 1)
    }
  }

  #cell(leaf: Leaf, text: string, separators: number): void {
    const index = this.#indexOf(leaf)
    const open = this.#open[index]!
    if (this.#isShaped) {
      open.shaped ??= new Set()
      open.shaped.add(open.texts.length)
      this.#isShaped = false
    }
    open.texts.push(text)
    const commas = separators === 1 ? INNER_SEPARATOR : INNER_SEPARATOR.repeat(separators)
    const { depth } = open
    const rows = leaf.kind === 'rows' && text !== 'null' ? this.#takeRows(depth) : null
    if (depth > 0) {
      const around = this.#rows[depth - 1]!
      around.gaps.push(around.ends + commas)
      around.order.push(index)
      around.cells.push(rows ?? text)
      around.ends = ''
      return
    }
    open.rows?.push(rows)
    this.#order.push(index)
    this.#gaps.push(this.#feeds + commas)
    this.#feeds = ''
  }

  #indexOf(leaf: Leaf): number {
    let index = this.#indexes.get(leaf)
    if (index === undefined) {
      index = this.#open.length
      this.#indexes.set(leaf, index)
      const rows = leaf.kind === 'rows' ? [] : null
      this.#open.push({ texts: [], depth: this.#depths.get(leaf)!, rows, shaped: null })
    }
    return index
  }

  /** @param depth of the leaf whose cell has the rows */
  #takeRows(depth: number): RowsCell {
    const { gaps, order, cells, ends } = this.#rows[depth]!
    gaps.push(ends)
    this.#rows[depth] = { gaps: [], order: [], cells: [], ends: '' }
    return { gaps, order, cells }
  }
}

/**
 * Rows in a cell, with a space before each cell of these leaves that follows a comma. Recursion is
 * as deep as the columns.
 */
export function writeRowsCell(
  { gaps, order, cells }: RowsCell,
  isSpaced: readonly boolean[],
): string {
  let out = '['
  for (let i = 0; i < order.length; i++) {
    const gap = gaps[i]!
    out += gap
    if (isSpaced[order[i]!] === true && gap.endsWith(INNER_SEPARATOR)) out += ' '
    const cell = cells[i]!
    out += typeof cell === 'string' ? cell : writeRowsCell(cell, isSpaced)
  }
  return `${out}${gaps[order.length]!}]`
}
