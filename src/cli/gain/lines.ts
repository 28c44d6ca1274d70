import { grouped } from '../../book/rows/amounts.ts'
import type { Line, Look, Piece } from '../../console/paint.ts'

/** Parts that a screen shows of each kind. */
export const TOP = 5
export const WIDEST_NAME = 40
/** Columns of the labels of facts. */
export const LABEL = 11

export function count(number: number, what: string): string {
  return `${grouped(number)} ${what}${number === 1 ? '' : 's'}`
}

/** A label, its value, and words that are broken at the width of the screen. */
export function fact(label: string, value: Piece, rest: string, look: Look): Line[] {
  const first: Piece[] = [`  ${label.padEnd(LABEL)}`, value, '  ']
  const used = 2 + LABEL + (typeof value === 'string' ? value : value[1]).length + 2
  return wrapped([...first, rest], used, look, 2 + LABEL)
}

/** The room for names in a table with columns of these widths. */
export function nameWidth(columns: readonly number[], look: Look): number {
  return Math.min(WIDEST_NAME, look.columns - 2 - columns.reduce((sum, each) => sum + each))
}

/** Breaks the last piece between words. @param used columns before it on the first line */
export function wrapped(pieces: readonly Piece[], used: number, look: Look, indent = used): Line[] {
  const last = pieces.at(-1) as Piece
  const [tone, text] = typeof last === 'string' ? (['plain', last] as const) : last
  const begin: readonly Piece[] = pieces.length === 1 ? [' '.repeat(used)] : pieces.slice(0, -1)
  const lines: Line[] = []
  let line = ''
  let room = look.columns - used
  let before: readonly Piece[] = begin
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push([...before, [tone, line]])
      before = [' '.repeat(indent)]
      room = look.columns - indent
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, [...before, [tone, line]]]
}
