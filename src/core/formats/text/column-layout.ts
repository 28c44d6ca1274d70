/** Where a column stands: after so many spaces, its cells at its left or right edge. */
interface ColumnBox {
  /** Spaces between the column before (or the start of the line) and this one. */
  readonly gap: number
  readonly align: 'l' | 'r'
  /** Characters; absent: those of the longest cell. */
  readonly width?: number
}

/** The layout of an aligned table: all of its text that is not in cells. */
export interface ColumnLayout {
  readonly columns: readonly ColumnBox[]
  /** Whether each line has spaces up to the right edge of the last column. */
  readonly padded: boolean
}

/** The edges of a column, in UTF-16 units from the start of the line. */
export interface ColumnPlace {
  readonly start: number
  readonly end: number
  readonly align: 'l' | 'r'
}

/** Ends the word of a layout whose lines are padded. */
const PADDED = '-p'
const WORD = /^(?:\d{0,3}[lr](?:_\d{1,3})?)(?:-\d{0,3}[lr](?:_\d{1,3})?)*(?:-p)?$/
const BOX = /^(\d*)([lr])(?:_(\d+))?$/

/**
 * The layout as a word for a format's style, for example `l-3l-r_8`. The number before a letter is
 * the gap if it is not the usual one: none before the first column, one space before the others.
 */
export function columnsWord({ columns, padded }: ColumnLayout): string {
  const boxes = columns.map(({ gap, align, width }, at) => {
    const before = gap === usualGap(at) ? '' : gap
    return `${before}${align}${width === undefined ? '' : `_${width}`}`
  })
  return boxes.join('-') + (padded ? PADDED : '')
}

/** The layout of such a word, or `undefined`. */
export function readColumnsWord(word: string): ColumnLayout | undefined {
  if (!WORD.test(word)) return undefined
  const padded = word.endsWith(PADDED)
  const boxes = (padded ? word.slice(0, -PADDED.length) : word).split('-')
  const columns = boxes.map((box, at): ColumnBox => {
    const [, gap = '', align, width] = BOX.exec(box)!
    return {
      gap: gap === '' ? usualGap(at) : Number(gap),
      align: align as 'l' | 'r',
      ...(width === undefined ? {} : { width: Number(width) }),
    }
  })
  return { columns, padded }
}

function usualGap(column: number): number {
  return column === 0 ? 0 : 1
}

/** The edges of all columns. */
export function placeColumns(
  { columns }: ColumnLayout,
  longest: readonly number[],
): readonly ColumnPlace[] {
  let edge = 0
  return columns.map(({ gap, align, width }, at) => {
    const start = edge + gap
    edge = start + (width ?? longest[at]!)
    return { start, end: edge, align }
  })
}

/** The length of the longest cell of each column. */
export function longestOf(rows: readonly (readonly string[])[], columns: number): number[] {
  const longest = new Array<number>(columns).fill(0)
  for (const row of rows) {
    for (let at = 0; at < columns; at++) {
      longest[at] = Math.max(longest[at]!, row[at]?.length ?? 0)
    }
  }
  return longest
}

/**
 * The line of a row, or `null` if it would have more than `maxChars`. A cell that is too long moves
 * the cells after it as far as they must.
 */
export function writeAligned(
  cells: readonly string[],
  places: readonly ColumnPlace[],
  padded: boolean,
  maxChars: number,
): string | null {
  let line = ''
  for (let at = 0; at < places.length; at++) {
    const cell = cells[at] ?? ''
    if (cell === '') continue
    const { start, end, align } = places[at]!
    const wanted = align === 'l' ? start : end - cell.length
    const from = Math.max(wanted, line === '' ? 0 : line.length + 1)
    if (from + cell.length > maxChars) return null
    line = line.padEnd(from) + cell
  }
  const edge = places.at(-1)?.end ?? 0
  if (!padded || line.length >= edge) return line
  return edge > maxChars ? null : line.padEnd(edge)
}
