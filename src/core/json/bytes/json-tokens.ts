import {
  BACKSLASH,
  DIGIT_0,
  DIGIT_9,
  DOT,
  LOWER_E,
  LOWER_F,
  LOWER_N,
  LOWER_T,
  MINUS,
  PLUS,
  QUOTE,
  UPPER_E,
} from '../char-codes.ts'
import { isSpace } from '../characters.ts'

const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')
const NULL = Buffer.from('null')

/** What is read after the last byte; no byte of JSON. */
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
    if (!isSpace(body[at]!)) break
  }
  return at
}

/**
 * The offset after the string whose opening quote is at `start`, which is not checked otherwise; -1
 * if it has no end. `end-of-string.ts` checks.
 */
export function passOverString(body: Uint8Array, start: number): number {
  const { length } = body
  for (let at = start + 1; at < length; at++) {
    const c = body[at]
    if (c === QUOTE) return at + 1
    if (c === BACKSLASH) at++
  }
  return -1
}

/** The offset after the number or word at `start`; -1 if it is none. */
export function endOfScalar(body: Uint8Array, start: number): number {
  const first = byteAt(body, start)
  if (first === LOWER_T) return endOfWord(body, start, TRUE)
  if (first === LOWER_F) return endOfWord(body, start, FALSE)
  return first === LOWER_N ? endOfWord(body, start, NULL) : endOfNumber(body, start)
}

function endOfWord(body: Uint8Array, start: number, word: Uint8Array): number {
  for (let i = 0; i < word.length; i++) if (byteAt(body, start + i) !== word[i]) return -1
  return start + word.length
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

/** The offset after one digit or more; -1 if there is none. */
function endOfDigits(body: Uint8Array, start: number): number {
  let at = start
  while (at < body.length && body[at]! >= DIGIT_0 && body[at]! <= DIGIT_9) at++
  return at === start ? -1 : at
}
