import { type ByteGutter, type GutterKind, isPathed, NONE } from './byte-gutter.ts'

/** Tests whether a text's lines can be named by their printed numbers. */
export interface NumberingTest {
  /** The next line; `end`: of it, in bytes from the start of the text. */
  add(gutter: ByteGutter, end: number): void
  isNumbered(): boolean
}

/**
 * The lines that end within so many bytes show whether a text has numbers. So a part of a large one
 * can be cut without reading all of it, unless it has.
 */
export const NUMBERED_WITHIN_BYTES = 64 * 1024

/**
 * Lines can be named by their numbers if every number is above the one before, all come before the
 * same separator, and at least half of the lines that are not blank have one; of the first ones
 * too.
 */
export function createNumberingTest(): NumberingTest {
  let kind: GutterKind = NONE
  let last = -1
  let numbered = 0
  let others = 0
  let rising = true
  let isPast = false
  const isSo = () => rising && numbered > 0 && numbered >= others
  return {
    add(gutter, end) {
      if (!isPast && end >= NUMBERED_WITHIN_BYTES) {
        isPast = true
        rising = isSo()
      }
      if (gutter.kind === NONE || isPathed(gutter.kind)) {
        if (end > gutter.start) others++
        return
      }
      if (numbered === 0) kind = gutter.kind
      numbered++
      if (gutter.number <= last || gutter.kind !== kind) rising = false
      last = gutter.number
    },
    isNumbered: isSo,
  }
}

/** The name of a line of a numbered text for a reader: its printed number, or 0 if it has none. */
export function printedName({ kind, number }: ByteGutter): number {
  return kind === NONE || isPathed(kind) ? 0 : number
}
