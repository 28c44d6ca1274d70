import { DIGIT_0, DIGIT_9, SPACE } from '../../json/char-codes.ts'
import type { NumberLayout } from './number-layout.ts'

/**
 * Longest gutter in characters, so that a text with its gutters is at most a fixed number of times
 * longer than without.
 */
const MAX_GUTTER = 12

/** The number before a line of a text; `width` is up to and with the last digit. */
export interface LineGutter extends NumberLayout {
  readonly number: number
}

/** Reads the gutter of a line: spaces, a number, the separator. Returns `null` if it has none. */
export function readLineGutter(line: string, separator: string): LineGutter | null {
  let first = 0
  while (first < MAX_GUTTER && line.charCodeAt(first) === SPACE) first++
  let end = first
  let number = 0
  for (; end < MAX_GUTTER; end++) {
    const c = line.charCodeAt(end)
    if (!(c >= DIGIT_0 && c <= DIGIT_9)) break
    number = number * 10 + (c - DIGIT_0)
  }
  if (end === first || line[end] !== separator) return null
  return { number, width: end, padded: first > 0 }
}
