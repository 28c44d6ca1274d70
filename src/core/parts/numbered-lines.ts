import { createGutter, readGutter } from '../formats/gutter/byte-gutter.ts'
import { createNumberingTest, NUMBERED_WITHIN_BYTES } from '../formats/gutter/numbering.ts'
import { numberedLines } from '../formats/gutter/printed-lines.ts'
import { LINE_FEED } from '../json/char-codes.ts'

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

/** The first number that is printed from a byte on; `null` if none is. */
export function nextNumber(bytes: Uint8Array, from: number): number | null {
  return numberedLines(bytes)?.find(({ start }) => start >= from)?.number ?? null
}
