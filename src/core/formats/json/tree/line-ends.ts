import {
  ASTERISK,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  CLOSE_PARENTHESIS,
  COLON,
  DIGIT_0,
  DIGIT_9,
  DOT,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PARENTHESIS,
  QUOTE,
  SPACE,
} from '../../../json/char-codes.ts'

/** Whether `c` ends the bare key of a line. */
export function isKeyEnd(c: number): boolean {
  return (
    c === COLON ||
    c === DOT ||
    c === OPEN_PARENTHESIS ||
    c === QUOTE ||
    c === OPEN_BRACKET ||
    c === OPEN_BRACE ||
    c === CLOSE_BRACKET ||
    c === CLOSE_BRACE
  )
}

/** Whether `c` ends the bare prefix of a run. */
export function isPatternMark(c: number): boolean {
  return c === ASTERISK
}

/** Whether `c` ends the word in a key's mark. */
export function isMarkEnd(c: number): boolean {
  return c === SPACE || c === CLOSE_PARENTHESIS
}

/** Whether `c` is an ASCII digit. */
export function isDigit(c: number): boolean {
  return c >= DIGIT_0 && c <= DIGIT_9
}
