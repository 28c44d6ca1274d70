import {
  BYTE_ORDER_MARK,
  COLON,
  COMMA,
  FIRST_SURROGATE,
  LAST_SURROGATE,
  LINE_FEED,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
  TAB,
} from '../value/char-codes.ts'
import { parseNumber } from '../value/parse-number.ts'

/** What a string contains that decides how a line-based notation may write it. Bits of `contentOf`. */
export const HAS_COMMA = 1
export const HAS_COLON = 2
export const HAS_QUOTE = 4
export const HAS_LINE_FEED = 8
/** A control character (tab and line feed apart), a lone surrogate or a BOM: only an escape is safe. */
export const NEEDS_ESCAPE = 16

const BITS = new Uint8Array(128)
for (let c = 0; c < SPACE; c++) BITS[c] = NEEDS_ESCAPE
BITS[TAB] = 0
BITS[LINE_FEED] = HAS_LINE_FEED
BITS[COMMA] = HAS_COMMA
BITS[COLON] = HAS_COLON
BITS[QUOTE] = HAS_QUOTE

/** The bits of everything the string contains; one pass. */
export function contentOf(text: string): number {
  let bits = 0
  let surrogates = false
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if (c < 128) bits |= BITS[c]!
    else if (c >= FIRST_SURROGATE) {
      if (c <= LAST_SURROGATE) surrogates = true
      else if (c === BYTE_ORDER_MARK) bits |= NEEDS_ESCAPE
    }
  }
  return surrogates && !text.isWellFormed() ? bits | NEEDS_ESCAPE : bits
}

/** The string as a JSON literal that no channel alters: `quoteJson` and the BOM escaped too. */
export function escapeText(text: string): string {
  return JSON.stringify(text).replaceAll('\ufeff', '\\ufeff')
}

/**
 * Whether a string written without quotes would be read as something else, or lose its ends to a reader
 * that trims: empty, edged with white space, a number, a literal, or the start of JSON.
 */
export function isAmbiguous(text: string): boolean {
  if (text.length === 0) return true
  const first = text.charCodeAt(0)
  if (first === QUOTE || first === OPEN_BRACKET || first === OPEN_BRACE) return true
  if (isEdgeSpace(first) || isEdgeSpace(text.charCodeAt(text.length - 1))) return true
  return readLiteral(text, 0, text.length) !== undefined
}

/** White space that `trim` removes, and any control character. */
function isEdgeSpace(c: number): boolean {
  return c <= SPACE || (c > 127 && String.fromCharCode(c).trim() === '')
}

/** `text[start, end)` as `null`, `true`, `false` or a number; `undefined` if it is none of them. */
export function readLiteral(text: string, start: number, end: number) {
  const c = text.charCodeAt(start)
  // '-' is 0x2d, the digits are 0x30 to 0x39; a letter decides for most strings.
  if (c <= 0x39) return parseNumber(text, start, end)
  const length = end - start
  if (length === 4) {
    if (text.startsWith('null', start)) return null
    if (text.startsWith('true', start)) return true
  } else if (length === 5 && text.startsWith('false', start)) return false
  return undefined
}
