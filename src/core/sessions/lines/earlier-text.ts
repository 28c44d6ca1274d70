import { type ByteGutter, createGutter, readGutter } from '../../formats/gutter/byte-gutter.ts'
import { createNumberingTest, printedName } from './numbering.ts'
import { startsOfLines } from './scan-text.ts'

/** An earlier result while an answer is decoded. */
export interface EarlierText {
  /** The line with this name, counted from 0, or -1. */
  find(name: number): number
  /** Lines `from` to before `end` as they are. */
  slice(from: number, end: number): string
  /** A line with another gutter; `write` is given the old one and the path before it. */
  withGutter(line: number, write: GutterRewriter): string | null
}

/** What stands before a line's text now, or `null` if there can be nothing. */
export type GutterRewriter = (gutter: ByteGutter, path: string) => string | null

/** @returns `null` for a text that no reference can be to, having too many lines */
export function openEarlierText(text: string): EarlierText | null {
  const buffer = Buffer.from(text, 'utf8')
  const starts = startsOfLines(buffer)
  if (starts === null) return null
  const lines = starts.length - 1
  const gutter = createGutter()
  const names = printedNames()

  /** Line by printed number, or `null` if lines are counted. */
  function printedNames(): ReadonlyMap<number, number> | null {
    const numbering = createNumberingTest()
    const found = new Map<number, number>()
    for (let line = 0; line < lines; line++) {
      const end = starts![line + 1]! - 1
      readGutter(buffer, starts![line]!, end, gutter)
      numbering.add(gutter, end)
      found.set(printedName(gutter), line)
    }
    return numbering.isNumbered() ? found : null
  }

  return {
    find(name) {
      if (names !== null) return names.get(name) ?? -1
      return name >= 1 && name <= lines ? name - 1 : -1
    },
    slice: (from, end) => buffer.toString('utf8', starts[from], starts[end]! - 1),
    withGutter(line, write) {
      const end = starts[line + 1]! - 1
      readGutter(buffer, starts[line]!, end, gutter)
      const path = buffer.toString(
        'utf8',
        gutter.start,
        Math.max(gutter.start, gutter.numberStart - 1),
      )
      const written = write(gutter, path)
      return written === null ? null : written + buffer.toString('utf8', gutter.textStart, end)
    },
  }
}
