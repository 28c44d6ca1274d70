import { createGutter, readGutter } from '../formats/gutter/byte-gutter.ts'
import {
  createNumberingTest,
  NUMBERED_WITHIN_BYTES,
  printedName,
} from '../formats/gutter/numbering.ts'
import { LINE_FEED } from '../json/char-codes.ts'

/** A line of a text with a printed number, with its end: of the line feed, if it has one. */
export interface NumberedLine {
  readonly number: number
  readonly start: number
  readonly end: number
}

/** The lines with a number, if the text's lines are named by their numbers; else `null`. Linear. */
export function numberedLines(bytes: Uint8Array): readonly NumberedLine[] | null {
  const numbering = createNumberingTest()
  const gutter = createGutter()
  const lines: NumberedLine[] = []
  for (let start = 0; start < bytes.length; ) {
    const feed = bytes.indexOf(LINE_FEED, start)
    const stop = feed === -1 ? bytes.length : feed
    readGutter(bytes, start, stop, gutter)
    numbering.add(gutter, stop)
    const number = printedName(gutter)
    const end = Math.min(stop + 1, bytes.length)
    if (number > 0) lines.push({ number, start, end })
    start = stop + 1
  }
  return numbering.isNumbered() ? lines : null
}

/**
 * Whether a text that begins so may have lines that are named by their numbers.
 * @param head its first `NUMBERED_WITHIN_BYTES`, or all of it
 */
export function mayBeNumbered(head: Uint8Array): boolean {
  const numbering = createNumberingTest()
  const gutter = createGutter()
  for (let start = 0; ; ) {
    const feed = head.indexOf(LINE_FEED, start)
    if (feed === -1 || feed >= NUMBERED_WITHIN_BYTES) return numbering.isNumbered()
    readGutter(head, start, feed, gutter)
    numbering.add(gutter, feed)
    start = feed + 1
  }
}
