import { typedText } from '../base/typed-text.ts'
import { MINUS, OPEN_BRACE, OPEN_BRACKET, QUOTE, SPACE } from '../json/char-codes.ts'
import { nonFiniteAt, parseNumber } from '../json/parse-number.ts'
import type { NumberLiteral } from '../json/value.ts'

/** The string as a JSON literal that no channel alters: `quoteJson` and the BOM escaped too. */
export function escapeText(text: string): string {
  const literal = JSON.stringify(text)
  return literal.includes('\ufeff') ? literal.replaceAll('\ufeff', '\\ufeff') : literal
}

/**
 * Whether a string without quotes would be read as something else, or lose its ends when a reader
 * trims it. Such a string is empty, has white space at an end, is a number or a literal, or begins
 * like JSON.
 */
export function isAmbiguous(string: string): boolean {
  const text = typedText(string)
  if (text.length === 0) return true
  const first = text.charCodeAt(0)
  if (first === QUOTE || first === OPEN_BRACKET || first === OPEN_BRACE) return true
  if (isEdgeSpace(first) || isEdgeSpace(text.charCodeAt(text.length - 1))) return true
  return readLiteral(text, 0, text.length) !== undefined || isLikeLiteral(text)
}

/** Whether a reader may take the string for a literal, as no decoder does: `True`, `NULL`. */
function isLikeLiteral(text: string): boolean {
  return text.length <= 5 && text.length >= 3 && LIKE_LITERAL.test(text)
}

const LIKE_LITERAL = /^(?:true|false|null|none|nan)$/i

/** White space that `trim` removes, and any control character. */
function isEdgeSpace(c: number): boolean {
  return c <= SPACE || (c > 127 && String.fromCharCode(c).trim() === '')
}

/** `text[start, end)` as `null`, `true`, `false` or a number; `undefined` if it is none of them. */
export function readLiteral(string: string, start: number, end: number) {
  const text = typedText(string)
  const c = text.charCodeAt(start)
  const length = end - start
  // '-' is 0x2d, the digits are 0x30 to 0x39; a letter decides for most strings.
  if (c <= 0x39) {
    const number = parseNumber(text, start, end)
    return number === undefined && c === MINUS ? readNonFinite(text, start, length) : number
  }
  if (length === 3 || length === 8) return readNonFinite(text, start, length)
  if (length === 4) {
    if (text.startsWith('null', start)) return null
    if (text.startsWith('true', start)) return true
  } else if (length === 5 && text.startsWith('false', start)) return false
  return undefined
}

function readNonFinite(text: string, start: number, length: number): NumberLiteral | undefined {
  const number = nonFiniteAt(text, start)
  return number?.text.length === length ? number : undefined
}
