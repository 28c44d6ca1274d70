import { DIGIT_0, DIGIT_9 } from '../json/char-codes.ts'

/** A number in a text, and the offset after its last digit. */
export interface Digits {
  readonly value: number
  readonly end: number
}

/**
 * Reads the digits from `start` on, none at or after `limit`. Returns `null` if there are none.
 */
export function readDigits(text: string, start: number, limit: number): Digits | null {
  let value = 0
  let end = start
  for (; end < limit; end++) {
    const c = text.charCodeAt(end)
    // Also ends at the end of the text, where the code is NaN.
    if (!(c >= DIGIT_0 && c <= DIGIT_9)) break
    value = value * 10 + (c - DIGIT_0)
  }
  return end === start ? null : { value, end }
}
