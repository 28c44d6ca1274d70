import { leavesOf } from './cell-gaps.ts'
import type { Column, Leaf, RowsColumn } from './column.ts'
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
  /** What follows the last cell. */
  readonly tail: string
  /** The leaf whose cells have the rest of their lines, if spaces separate them. */
  readonly last: Leaf | undefined
}

/** The cells of one leaf, from the first row to the last. */
interface LeafCells {
  readonly texts: readonly string[]
  /** Whether they are cells of rows in cells, which commas separate whatever the table has. */
  readonly isInner: boolean
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
  readonly texts: readonly string[]
}

/** The columns of rows, those in groups too. */
export function rowsColumnsOf(columns: readonly Column[]): readonly RowsColumn[] {
  return columns.flatMap((column): readonly RowsColumn[] => {
    if (column.kind === 'rows') return [column]
    return column.kind === 'group' ? rowsColumnsOf(column.columns) : []
  })
}

interface OpenLeaf {
  readonly texts: string[]
  readonly isInner: boolean
  readonly rows: (RowsCell | null)[] | null
  shaped: Set<number> | null
}

/** Nested values that begin otherwise are written by a shape. */
const BRACKETS = '[{'

/** Collects the cells of a table with commas between them while a writer writes it. */
export class CellCollector {
  readonly #inner: ReadonlySet<Leaf>
  readonly #indexes = new Map<Leaf, number>()
  readonly #open: OpenLeaf[] = []
  readonly #order: number[] = []
  readonly #gaps: string[] = []
  /** Line feeds since the last cell. */
  #feeds = ''
  /** The rows of the cell that is written, as far as they are. */
  #rows: { gaps: string[]; order: number[]; texts: string[] } = { gaps: [], order: [], texts: [] }
  #rowEnds = ''
  #isShaped = false

  /** @param rowsColumns columns whose cells have rows, but no rows in these */
  constructor(rowsColumns: readonly RowsColumn[]) {
    this.#inner = new Set(rowsColumns.flatMap(column => leavesOf(column.columns)))
  }

  /** Receives what the writer writes from now on. */
  watch(writer: RowWriter): void {
    writer.observe = (leaf, text, separators) => this.#cell(leaf, text, separators)
    writer.onBracket = text => {
      this.#isShaped = !BRACKETS.includes(text[0]!)
    }
    if (this.#inner.size > 0) {
      writer.onNextRow = () => {
        this.#rowEnds += ROW_SEPARATOR
      }
    }
  }

  startLine(): void {
    this.#feeds += '\n'
  }

  end(columns: readonly Column[]): CollectedRows {
    return {
      leaves: [...this.#indexes.keys()],
      cells: this.#open,
      order: this.#order,
      gaps: this.#gaps,
      tail: this.#feeds,
      last: leavesOf(columns).at(-1),
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
    if (open.isInner) {
      this.#rows.gaps.push(this.#rowEnds + commas)
      this.#rows.order.push(index)
      this.#rows.texts.push(text)
      this.#rowEnds = ''
      return
    }
    if (open.rows !== null) open.rows.push(text === 'null' ? null : this.#takeRows())
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
      this.#open.push({ texts: [], isInner: this.#inner.has(leaf), rows, shaped: null })
    }
    return index
  }

  #takeRows(): RowsCell {
    const rows = this.#rows
    rows.gaps.push(this.#rowEnds)
    this.#rows = { gaps: [], order: [], texts: [] }
    this.#rowEnds = ''
    return rows
  }
}

/** Rows in a cell, with a space before each cell of these leaves that follows a comma. */
export function writeRowsCell(
  { gaps, order, texts }: RowsCell,
  isSpaced: readonly boolean[],
): string {
  let out = '['
  for (let i = 0; i < order.length; i++) {
    const gap = gaps[i]!
    out += gap
    if (isSpaced[order[i]!] === true && gap.endsWith(INNER_SEPARATOR)) out += ' '
    out += texts[i]!
  }
  return `${out}${gaps[order.length]!}]`
}
