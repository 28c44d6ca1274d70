import {
  CARRIAGE_RETURN,
  DIGIT_0,
  DIGIT_9,
  DOT,
  LINE_FEED,
  LOWER_E,
  LOWER_F,
  LOWER_N,
  LOWER_T,
  MINUS,
  PLUS,
  SPACE,
  TAB,
} from '../char-codes.ts'

const UPPER_E = 0x45

const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')
const NULL = Buffer.from('null')

/** What stands behind the last byte: none of JSON. */
export const NO_BYTE = -1

/** The byte at `at`; reading beyond the end of an array would make every later reading slower. */
export function byteAt(body: Uint8Array, at: number): number {
  return at < body.length ? body[at]! : NO_BYTE
}

/** The offset of the first byte from `start` on that is no white space of JSON, or the length. */
export function skipSpace(body: Uint8Array, start: number): number {
  const { length } = body
  let at = start
  for (; at < length; at++) {
    const c = body[at]
    if (c !== SPACE && c !== LINE_FEED && c !== CARRIAGE_RETURN && c !== TAB) break
  }
  return at
}

/** The offset behind the number or word at `start`; -1 if it is none. */
export function endOfScalar(body: Uint8Array, start: number): number {
  const first = byteAt(body, start)
  if (first === LOWER_T) return endOfWord(body, start, TRUE)
  if (first === LOWER_F) return endOfWord(body, start, FALSE)
  return first === LOWER_N ? endOfWord(body, start, NULL) : endOfNumber(body, start)
}

function endOfWord(body: Uint8Array, start: number, word: Uint8Array): number {
  return word.every((byte, i) => byteAt(body, start + i) === byte) ? start + word.length : -1
}

/** `-? (0 | [1-9] digits) (. digits)? ([eE] [+-]? digits)?`, RFC 8259, section 6. */
function endOfNumber(body: Uint8Array, start: number): number {
  let at = byteAt(body, start) === MINUS ? start + 1 : start
  at = byteAt(body, at) === DIGIT_0 ? at + 1 : endOfDigits(body, at)
  if (at !== -1 && byteAt(body, at) === DOT) at = endOfDigits(body, at + 1)
  if (at !== -1 && (byteAt(body, at) === LOWER_E || byteAt(body, at) === UPPER_E)) {
    at++
    if (byteAt(body, at) === PLUS || byteAt(body, at) === MINUS) at++
    at = endOfDigits(body, at)
  }
  return at
}

/** The offset behind one digit or more; -1 if there is none. */
function endOfDigits(body: Uint8Array, start: number): number {
  let at = start
  while (at < body.length && body[at]! >= DIGIT_0 && body[at]! <= DIGIT_9) at++
  return at === start ? -1 : at
}
