import { BACKSLASH, LOWER_U, QUOTE, SPACE } from '../char-codes.ts'
import { isHexDigit, SHORT_ESCAPES } from '../characters.ts'

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
