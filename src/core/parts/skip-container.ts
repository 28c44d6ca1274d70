import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../json/char-codes.ts'

/**
 * States between two bytes of JSON. A column of the table has the next state from each for one
 * byte, three bits a state, so that a step is a shift and no branch is guessed wrongly (as
 * `endOfString` in `json/bytes/json-tokens.ts` does). A state is the number of bits to shift by.
 */
const STATE_MASK = 7
const OUTSIDE = 0
const IN_STRING = 3
const AFTER_BACKSLASH = 6

const NEXT = Int32Array.from({ length: 256 }, (_, byte) => {
  const outside = byte === QUOTE ? IN_STRING : OUTSIDE
  const inside = byte === QUOTE ? OUTSIDE : byte === BACKSLASH ? AFTER_BACKSLASH : IN_STRING
  return (outside << OUTSIDE) | (inside << IN_STRING) | (IN_STRING << AFTER_BACKSLASH)
})

/** How much deeper a byte leads outside of strings. */
const DEEPER = Int8Array.from({ length: 256 }, (_, byte) => {
  if (byte === OPEN_BRACE || byte === OPEN_BRACKET) return 1
  return byte === CLOSE_BRACE || byte === CLOSE_BRACKET ? -1 : 0
})

/**
 * The offset after the object or list at `start`, by its nesting alone: what is in it is not
 * checked. Returns -1 if it does not end.
 */
export function skipContainer(body: Uint8Array, start: number): number {
  const { length } = body
  let state = OUTSIDE
  let nesting = 0
  for (let at = start; at < length; at++) {
    const byte = body[at]!
    // The mask has all bits outside of strings, and none in them.
    nesting += ((state - 1) >> 31) & DEEPER[byte]!
    state = (NEXT[byte]! >> state) & STATE_MASK
    if (nesting === 0) return at + 1
  }
  return -1
}
