import {
  CARRIAGE_RETURN,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  DIGIT_0,
  DIGIT_9,
  LINE_FEED,
  SPACE,
  TAB,
} from './char-codes.ts'

/**
 * Classes of the characters of JSON (RFC 8259). All are ASCII, so each takes a code unit of a text
 * as well as a byte of UTF-8, and `NaN` after the end is in none.
 */

/** The characters that may follow a backslash by themselves; `u` takes four digits more. */
export const SHORT_ESCAPES = '"\\/bfnrt'

export function isSpace(c: number): boolean {
  // Most characters are above all of them.
  return c <= SPACE && (c === SPACE || c === LINE_FEED || c === CARRIAGE_RETURN || c === TAB)
}

function isDigit(c: number): boolean {
  return c >= DIGIT_0 && c <= DIGIT_9
}

export function isHexDigit(c: number): boolean {
  return isDigit(c) || (c >= 0x41 && c <= 0x46) || (c >= 0x61 && c <= 0x66)
}

/** Whether a number or word ends before this character. */
export function endsScalar(c: number): boolean {
  // Digits take three comparisons.
  return c <= COMMA ? c === COMMA || isSpace(c) : c === CLOSE_BRACKET || c === CLOSE_BRACE
}
