import { LINE_FEED } from '../../json/char-codes.ts'
import { createGutter, readGutter } from './byte-gutter.ts'
import { createNumberingTest, printedName } from './numbering.ts'

/** A line of a text with a printed number, with its end: of the line feed, if it has one. */
export interface NumberedLine {
  readonly number: number
  /** The place of the line among all lines, from 0. */
  readonly at: number
  readonly start: number
  readonly end: number
}

/** The lines with a number, if the text's lines are named by their numbers; else `null`. Linear. */
export function numberedLines(bytes: Uint8Array): readonly NumberedLine[] | null {
  const numbering = createNumberingTest()
  const gutter = createGutter()
  const lines: NumberedLine[] = []
  for (let start = 0, at = 0; start < bytes.length; at++) {
    const feed = bytes.indexOf(LINE_FEED, start)
    const stop = feed === -1 ? bytes.length : feed
    readGutter(bytes, start, stop, gutter)
    numbering.add(gutter, stop)
    const number = printedName(gutter)
    const end = Math.min(stop + 1, bytes.length)
    if (number > 0) lines.push({ number, at, start, end })
    start = stop + 1
  }
  return numbering.isNumbered() ? lines : null
}

/** By a line's place from 0, its printed number; 0 if it has none. */
export type PrintedNames = Int32Array

const known = new WeakMap<readonly string[], PrintedNames | null>()

/**
 * The printed numbers of the lines of a text; `null` if they do not name its lines. A text that is
 * asked for again by the same list of lines is not read again.
 */
export function printedNames(lines: readonly string[]): PrintedNames | null {
  const before = known.get(lines)
  if (before !== undefined) return before
  const numbered = numberedLines(Buffer.from(lines.join('\n')))
  const names = numbered === null ? null : new Int32Array(lines.length)
  for (const { at, number } of numbered ?? []) names![at] = number
  known.set(lines, names)
  return names
}

/** What a reader calls a line: its printed number if the text has them, else its place from 1. */
export function nameOfLine(names: PrintedNames | null, at: number): number {
  return names?.[at] || at + 1
}

/** How many lines a text has. The empty one after its last line break is none. */
export function lineCount(lines: readonly string[]): number {
  return lines.length - (lines.length > 1 && lines.at(-1) === '' ? 1 : 0)
}
