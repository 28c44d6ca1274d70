import {
  BACKSLASH,
  DIGIT_0,
  DIGIT_9,
  DOT,
  LOWER_E,
  LOWER_F,
  LOWER_N,
  LOWER_T,
  LOWER_U,
  MINUS,
  PLUS,
  QUOTE,
  SPACE,
  UPPER_E,
} from '../char-codes.ts'
import { isHexDigit, isSpace, SHORT_ESCAPES } from '../text-tokens.ts'

const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')
const NULL = Buffer.from('null')
const NON_FINITE = ['NaN', 'Infinity', '-Infinity'].map(word => Buffer.from(word))

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
 * if it has no end. `endOfString` checks.
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

/**
 * The same for `NaN`, `Infinity` and `-Infinity`. `JSON.parse` takes none of them; results of tools
 * have them, since Python writes them.
 */
export function endOfNonFinite(body: Uint8Array, start: number): number {
  const word = NON_FINITE.find(each => endOfWord(body, start, each) !== -1)
  return word === undefined ? -1 : start + word.length
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

/**
 * Most of a body is the inside of strings, and texts of tools have an escape every twenty bytes or
 * so. A branch for each is guessed wrongly half the time; an automaton without branches reads any
 * text at one pace. Its states are numbered so that a whole column of the table, the next state
 * from each for one byte, fits into an integer, three bits a state: a step is a shift, and no
 * look-up waits for the one before ("shift-based DFA", Per Vognsen). The cost: eight states and no
 * more.
 */
const STATE_BITS = 3
const STATE_MASK = (1 << STATE_BITS) - 1
const INSIDE = 0
const AFTER_BACKSLASH = 1
/** Then the states in which three, two and one hexadecimal digits are still to come. */
const FOUR_DIGITS = 2
const ONE_DIGIT = 5
const END = 6
const FAULT = 7

const NEXT = Int32Array.from({ length: 256 }, (_, byte) => {
  const isHex = isHexDigit(byte)
  let column = 0
  for (let state = INSIDE; state <= FAULT; state++) {
    column |= nextState(state, byte, isHex) << (STATE_BITS * state)
  }
  return column
})

/** The rules of RFC 8259, section 7. */
function nextState(state: number, byte: number, isHex: boolean): number {
  if (state === INSIDE) {
    if (byte === QUOTE) return END
    if (byte === BACKSLASH) return AFTER_BACKSLASH
    return byte < SPACE ? FAULT : INSIDE
  }
  if (state === AFTER_BACKSLASH) {
    if (byte === LOWER_U) return FOUR_DIGITS
    return SHORT_ESCAPES.includes(String.fromCharCode(byte)) ? INSIDE : FAULT
  }
  if (state >= END) return state
  if (!isHex) return FAULT
  return state === ONE_DIGIT ? INSIDE : state + 1
}

/** The offset after the string literal whose opening quote is at `start`; -1 if it is none. */
export function endOfString(body: Uint8Array, start: number): number {
  // The length as a constant: read in the loop, it costs a quarter of the pace.
  const { length } = body
  let state = INSIDE
  let at = start + 1
  while (at < length) {
    state = (NEXT[body[at]!]! >>> (state * STATE_BITS)) & STATE_MASK
    at++
    if (state >= END) return state === END ? at : -1
  }
  return -1
}
