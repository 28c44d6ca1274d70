import { cutsName, isBeforeTime, isWord } from '../../word-cuts.ts'

/** The place of a cell while a template is made. No text that has it is taken apart. */
export const SLOT = '\u0001'

/** What all lines have in common, and what each has of its own. */
export interface LineTemplate {
  /** The text of a line, with `{1}` in place of its first cell, and so on. */
  readonly text: string
  /** The cells of each line. */
  readonly rows: readonly (readonly string[])[]
}

/** The place of a cell in a template. */
const PLACE = /\{([1-9]\d{0,2})\}/g

/**
 * The template of lines; `null` if its text could be read as another one.
 * @param rows the words of each line, as many as the first has
 */
export function templateOf(rows: readonly (readonly string[])[]): LineTemplate | null {
  const columns: (readonly string[])[] = []
  let text = ''
  for (let at = 0; at < rows[0]!.length; at++) {
    text += slotOf(
      rows.map(row => row[at] ?? ''),
      columns,
    )
  }
  if (columns.length === 0) return null
  // A brace of the text could be read as a place.
  const places = text.match(PLACE)?.length ?? 0
  if (places !== countSlots(text)) return null
  return {
    text: text.replaceAll(SLOT, ''),
    rows: rows.map((_, row) => columns.map(column => column[row]!)),
  }
}

/** Slots that are written have a mark that is taken away in the end. */
function countSlots(text: string): number {
  return text.split(SLOT).length - 1
}

/** The text of a column in the template: what its cells share, and the place of the rest. */
function slotOf(cells: readonly string[], columns: (readonly string[])[]): string {
  const first = cells[0]!
  if (cells.every(cell => cell === first)) return first
  const start = commonStart(cells)
  const end = commonEnd(cells, start)
  const own = cells.map(cell => cell.slice(start, cell.length - end))
  let column = columns.findIndex(other => other.every((cell, row) => cell === own[row]))
  if (column === -1) column = columns.push(own) - 1
  return `${first.slice(0, start)}${SLOT}{${column + 1}}${first.slice(first.length - end)}`
}

/**
 * Characters that all cells begin with, up to a sign. What a reader takes for one word, number,
 * name or path is not cut in any cell: `0.{1}` above `07` would be read as 7.
 */
function commonStart(cells: readonly string[]): number {
  const first = cells[0]!
  let length = first.length
  for (const cell of cells) {
    let at = 0
    while (at < length && cell[at] === first[at]) at++
    length = at
  }
  const isInside = () =>
    (isWord(first.charCodeAt(length - 1)) && !isBeforeTime(first, length)) ||
    cells.some(cell => cutsName(cell, length))
  while (length > 0 && isInside()) length--
  return length
}

function commonEnd(cells: readonly string[], start: number): number {
  const first = cells[0]!
  let length = Number.POSITIVE_INFINITY
  for (const cell of cells) {
    const most = Math.min(length, first.length - start, cell.length - start)
    let at = 0
    while (at < most && cell[cell.length - 1 - at] === first[first.length - 1 - at]) at++
    length = at
  }
  const isInside = () =>
    (isWord(first.charCodeAt(first.length - length)) &&
      !isBeforeTime(first, first.length - length)) ||
    cells.some(cell => cutsName(cell, cell.length - length))
  while (length > 0 && isInside()) length--
  return length
}

/** A template as it is filled: what stands before, between and after its cells. */
export interface ReadTemplate {
  readonly pieces: readonly string[]
  /** The cell after each piece but the last. */
  readonly places: readonly number[]
  /** Cells of a line. */
  readonly columns: number
  /** Characters of the pieces. */
  readonly length: number
}

export function readTemplate(text: string): ReadTemplate {
  const pieces: string[] = []
  const places: number[] = []
  let start = 0
  for (const { 0: place, 1: number, index } of text.matchAll(PLACE)) {
    pieces.push(text.slice(start, index))
    places.push(Number(number) - 1)
    start = index + place.length
  }
  pieces.push(text.slice(start))
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  return { pieces, places, columns: places.reduce((a, b) => Math.max(a, b), 0) + 1, length }
}

/** A line's text. */
export function fillTemplate({ pieces, places }: ReadTemplate, cells: readonly string[]): string {
  return pieces.reduce((text, piece, at) => text + cells[places[at - 1]!]! + piece)
}

/** Characters of a line's text. */
export function filledLength({ length, places }: ReadTemplate, cells: readonly string[]): number {
  return places.reduce((sum, place) => sum + cells[place]!.length, length)
}
