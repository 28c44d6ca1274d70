/**
 * Characters and tokens of JSON (RFC 8259). The classes of characters are all ASCII, so each takes
 * a code unit of a text as well as a byte of UTF-8, and `NaN` after the end is in none. Tokens are
 * of a text that is known to be JSON, or may be treated as if it were: they are followed to their
 * end and not checked. `parseJson` checks; `bytes/json-tokens.ts` is the same for bytes.
 */
import {
  BACKSLASH,
  CARRIAGE_RETURN,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  DIGIT_0,
  DIGIT_9,
  LINE_FEED,
  QUOTE,
  SPACE,
  TAB,
} from './char-codes.ts'

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

/** The offset after the string whose opening quote is at `start`; the length if it has no end. */
export function passOverString(text: string, start: number): number {
  const { length } = text
  for (let at = start + 1; at < length; at++) {
    const c = text.charCodeAt(at)
    if (c === QUOTE) return at + 1
    if (c === BACKSLASH) at++
  }
  return length
}

/** The offset after the number or word at `start`. */
export function passOverScalar(text: string, start: number): number {
  const { length } = text
  let at = start + 1
  while (at < length && !endsScalar(text.charCodeAt(at))) at++
  return at
}
