import {
  type ByteGutter,
  type GutterKind,
  isPathed,
  NONE,
} from '../../formats/gutter/byte-gutter.ts'

/** Tests whether a text's lines can be named by their printed numbers. */
export interface NumberingTest {
  add(gutter: ByteGutter, end: number): void
  isNumbered(): boolean
}

/**
 * They can if every number is above the one before, all stand before the same separator, and at
 * least half of the lines that are not blank have one.
 */
export function createNumberingTest(): NumberingTest {
  let kind: GutterKind = NONE
  let last = -1
  let numbered = 0
  let others = 0
  let rising = true
  return {
    add(gutter, end) {
      if (gutter.kind === NONE || isPathed(gutter.kind)) {
        if (end > gutter.start) others++
        return
      }
      if (numbered === 0) kind = gutter.kind
      numbered++
      if (gutter.number <= last || gutter.kind !== kind) rising = false
      last = gutter.number
    },
    isNumbered: () => rising && numbered > 0 && numbered >= others,
  }
}

/** What a reader calls a line of a numbered text: its printed number, or 0 if it has none. */
export function printedName({ kind, number }: ByteGutter): number {
  return kind === NONE || isPathed(kind) ? 0 : number
}
