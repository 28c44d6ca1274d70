import { typedText } from '../base/typed-text.ts'
import { BYTE_ORDER_MARK, FIRST_SURROGATE, LAST_SURROGATE } from '../json/char-codes.ts'

/**
 * The contents of a string that decide at which places it may be without quotes. Bits of
 * `contentOf`.
 */
export const COMMA_BIT = 1
export const SEMICOLON_BIT = 2
export const COLON_BIT = 4
export const BRACKET_BIT = 8
export const QUOTE_BIT = 16
export const TAB_BIT = 32
/** A dot, `=` or `*`: they mean something in names only. */
export const NAME_SIGN_BIT = 256
/** It needs an escape in a JSON literal, and nowhere else. */
export const BACKSLASH_BIT = 4096
/** An opening parenthesis: after a key it names the content of its string. */
export const PARENTHESIS_BIT = 2048
/** A closing parenthesis: it ends the members of a shape. */
export const CLOSE_PARENTHESIS_BIT = 8192
export const LINE_FEED_BIT = 512
/**
 * A control character (tab and line feed apart), a lone surrogate or a BOM: only an escape is safe.
 */
export const UNSAFE_BIT = 1024

const BITS = new Uint16Array(128)
for (let c = 0; c < 0x20; c++) BITS[c] = UNSAFE_BIT
for (const [chars, bit] of [
  [',', COMMA_BIT],
  [';', SEMICOLON_BIT],
  [':', COLON_BIT],
  ['[]{}', BRACKET_BIT],
  ['"', QUOTE_BIT],
  ['\t', TAB_BIT],
  ['.=*', NAME_SIGN_BIT],
  ['(', PARENTHESIS_BIT],
  [')', CLOSE_PARENTHESIS_BIT],
  ['\n', LINE_FEED_BIT],
  ['\\', BACKSLASH_BIT],
] as const) {
  for (const char of chars) BITS[char.charCodeAt(0)] = bit
}

/** The BOM begins with this byte, and what replaces lone surrogates, and some other characters. */
const LEAD_OF_UNSAFE = 0xef
const MAYBE_UNSAFE = 1 << 15
/** The same for bytes of UTF-8. */
const BYTE_BITS = new Uint16Array(256)
BYTE_BITS.set(BITS)
BYTE_BITS[LEAD_OF_UNSAFE] = MAYBE_UNSAFE

/** From this length on, to encode the string and look at its bytes takes less time. */
const LONG = 28
/** Longer strings are looked at where they are. */
const MOST_BYTES = 1 << 16

const encoder = new TextEncoder()
const bytes = new Uint8Array(MOST_BYTES)

/** The bits of everything the string contains; one pass. */
export function contentOf(string: string): number {
  const text = typedText(string)
  if (text.length < LONG || text.length > MOST_BYTES / 3) return contentOfUnits(text)
  const { written } = encoder.encodeInto(text, bytes)
  let bits = 0
  for (let at = 0; at < written; at++) bits |= BYTE_BITS[bytes[at]!]!
  return (bits & MAYBE_UNSAFE) === 0 ? bits : contentOfUnits(text)
}

function contentOfUnits(text: string): number {
  let bits = 0
  let surrogates = false
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if (c < 128) bits |= BITS[c]!
    else if (c >= FIRST_SURROGATE) {
      if (c <= LAST_SURROGATE) surrogates = true
      else if (c === BYTE_ORDER_MARK) bits |= UNSAFE_BIT
    }
  }
  return surrogates && !text.isWellFormed() ? bits | UNSAFE_BIT : bits
}
