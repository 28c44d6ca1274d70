import type { Alignment, MarkdownTable } from './markdown-tables.ts'

/**
 * The layout of a table: all of its text that is not in cells. Cells: `s` one space on both sides,
 * `n` the same but one space in an empty cell, `t` none, `a` padded on the right to the column's
 * width, `p` padded by the column's alignment. Delimiter row: `s` a space on both sides of the
 * dashes, `t` none, so that there are two more. Widths: `3`, of the header (`h`), of the column's
 * longest cell but at least three (`c`), or a number for each column.
 */
export interface TableLayout {
  readonly cells: 's' | 'n' | 't' | 'a' | 'p'
  readonly delimiter: 's' | 't'
  readonly widths: '3' | 'h' | 'c' | readonly number[]
}

/** The cells that a layout is applied to. They are trimmed, and pipes in them are not escaped. */
export type TableCells = Pick<MarkdownTable, 'header' | 'alignments' | 'rows'>

/** Wider columns are not laid out, so that a short style cannot represent a long text. */
const MAX_WIDTH = 2_000
const CELLS: readonly TableLayout['cells'][] = ['s', 'a', 'n', 'p', 't']
const WIDTHS: readonly ('3' | 'h' | 'c')[] = ['3', 'h', 'c']

/** The layout that gives the table's very lines, or `null`. Linear. */
export function findLayout(table: MarkdownTable): TableLayout | null {
  const lines = table.lines.map(line => bare(line, table))
  const delimiter = lines[1]!.charAt(1) === ' ' ? 's' : 't'
  const extra = delimiter === 's' ? 0 : 2
  const written = lines[1]!
    .split('|')
    .slice(1, -1)
    .map(cell => cell.trim().length - extra)
  for (const widths of [...WIDTHS, written]) {
    const columns = columnWidths(table, widths)
    if (columns === null || delimiterRow(table, delimiter, columns) !== lines[1]) continue
    const cells = CELLS.find(style =>
      [table.header, ...table.rows].every((row, index) => {
        const line = lines[index === 0 ? 0 : index + 1]!
        // Before it is padded: a wide column would make every short row long.
        return (
          rowLength(row, style, columns) === line.length &&
          tableRow(row, style, columns, table.alignments) === line
        )
      }),
    )
    if (cells !== undefined) return { cells, delimiter, widths }
  }
  return null
}

/**
 * The table's lines without indentation and line ends, or `null` if there would be more than
 * `maxChars`.
 */
export function layOut(
  table: TableCells,
  { cells, delimiter, widths }: TableLayout,
  maxChars: number,
): readonly string[] | null {
  const columns = columnWidths(table, widths)
  if (columns === null) return null
  let length = 0
  for (const row of table.rows) length += rowLength(row, cells, columns)
  if (length > maxChars) return null
  const row = (content: readonly string[]) => tableRow(content, cells, columns, table.alignments)
  return [row(table.header), delimiterRow(table, delimiter, columns), ...table.rows.map(row)]
}

/** The layout as a word for a format's style, for example `s-t-h` or `a-s-12_8_3`. */
export function layoutWord({ cells, delimiter, widths }: TableLayout): string {
  return `${cells}-${delimiter}-${typeof widths === 'string' ? widths : widths.join('_')}`
}

/** The layout of such a word, or `undefined`. */
export function readLayout(word: string): TableLayout | undefined {
  const match = /^([sntap])-([st])-(?:([hc3])|(\d{1,4}(?:_\d{1,4})*))$/.exec(word)
  if (match === null) return undefined
  const [, cells, delimiter, named, numbers] = match
  return {
    cells: cells as TableLayout['cells'],
    delimiter: delimiter as TableLayout['delimiter'],
    widths: named === undefined ? numbers!.split('_').map(Number) : (named as '3' | 'h' | 'c'),
  }
}

function bare(line: string, { indent, eol }: MarkdownTable): string {
  return line.slice(indent.length, line.length - eol.length)
}

function columnWidths(table: TableCells, widths: TableLayout['widths']): readonly number[] | null {
  const columns =
    widths === '3'
      ? table.header.map(() => 3)
      : widths === 'h'
        ? table.header.map(cell => escapeCell(cell).length)
        : widths === 'c'
          ? longestCells(table)
          : widths
  return columns.every(width => width >= 0 && width <= MAX_WIDTH) ? columns : null
}

function longestCells({ header, rows }: TableCells): readonly number[] {
  const widths = header.map(cell => Math.max(3, escapeCell(cell).length))
  for (const row of rows) {
    for (let column = 0; column < row.length && column < widths.length; column++) {
      widths[column] = Math.max(widths[column]!, escapeCell(row[column]!).length)
    }
  }
  return widths
}

function delimiterRow(
  { alignments }: TableCells,
  delimiter: TableLayout['delimiter'],
  columns: readonly number[],
): string {
  const spaced = delimiter === 's'
  // Three dashes between bare pipes are as usual as three between spaces.
  const isFixed = !spaced && columns.every(width => width === 3)
  const cells = alignments.map((alignment, column) => {
    const width = (columns[column] ?? 3) + (spaced || isFixed ? 0 : 2)
    return spaced ? ` ${dashes(alignment, width)} ` : dashes(alignment, width)
  })
  return `|${cells.join('|')}|`
}

function dashes(alignment: Alignment, width: number): string {
  const left = alignment === 'l' || alignment === 'c' ? ':' : ''
  const right = alignment === 'r' || alignment === 'c' ? ':' : ''
  return left + '-'.repeat(Math.max(1, width - left.length - right.length)) + right
}

function rowLength(
  row: readonly string[],
  style: TableLayout['cells'],
  columns: readonly number[],
): number {
  let length = 1
  for (let column = 0; column < row.length; column++) {
    const content = escapeCell(row[column]!).length
    const width = style === 'a' || style === 'p' ? (columns[column] ?? 0) : 0
    const spaces = style === 't' ? 0 : style === 'n' && content === 0 ? 1 : 2
    length += Math.max(content, width) + spaces + 1
  }
  return length
}

function tableRow(
  row: readonly string[],
  style: TableLayout['cells'],
  columns: readonly number[],
  alignments: readonly Alignment[],
): string {
  const cells = row.map((content, column) => {
    const cell = escapeCell(content)
    const width = columns[column] ?? 0
    if (style === 't') return cell
    if (style === 'a') return ` ${cell.padEnd(width)} `
    if (style === 'p') return ` ${padTo(cell, width, alignments[column] ?? '-')} `
    return style === 'n' && cell === '' ? ' ' : ` ${cell} `
  })
  return `|${cells.join('|')}|`
}

function padTo(cell: string, width: number, alignment: Alignment): string {
  if (alignment === 'r') return cell.padStart(width)
  if (alignment === 'c')
    return cell.padStart(cell.length + Math.floor((width - cell.length) / 2)).padEnd(width)
  return cell.padEnd(width)
}

function escapeCell(cell: string): string {
  return cell.includes('|') ? cell.replaceAll('|', '\\|') : cell
}
