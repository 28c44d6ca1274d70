/**
 * Finds places at which a text may be cut so that the parts' counts add up:
 * docs/reference/tokens.md, "Safe boundaries", explains why.
 */

import { typedText } from '../base/typed-text.ts'

const SYMBOL = 0
const LETTER = 1
const DIGIT = 2
const NEWLINE = 3
const SPACE = 4
/** Not examined: bytes of sequences that may be white space, letters or anything. */
const UNKNOWN = 5

const APOSTROPHE = 0x27
const SLASH = 0x2f

/**
 * Kind of each ASCII byte, and of lead bytes beyond E3, after which no white space lies (it ends at
 * U+3000).
 */
const KIND = kindsOfBytes()

function kindsOfBytes(): Uint8Array {
  const kinds = new Uint8Array(256).fill(UNKNOWN)
  for (let byte = 0; byte < 0x80; byte++) {
    const char = String.fromCharCode(byte)
    if (/[A-Za-z]/.test(char)) kinds[byte] = LETTER
    else if (/[0-9]/.test(char)) kinds[byte] = DIGIT
    else if (/[\r\n]/.test(char)) kinds[byte] = NEWLINE
    else if (/[\t\v\f ]/.test(char)) kinds[byte] = SPACE
    else kinds[byte] = SYMBOL
  }
  return kinds.fill(SYMBOL, 0xe4, 0xf5)
}

/**
 * The part of a text between its first and its last end of an ASCII word or number, if a symbol or
 * a space follows there (no apostrophe). It may be cut out and counted alone, whatever the text is
 * put into: its own ends and those of the cut are safe boundaries. So for a text a + m + b that is
 * cut at m, `count(a + m + b) = count(a + b) + count(m)`.
 * @returns `null` if there is no such part of `shortest` characters at least
 */
export function middleOf(
  string: string,
  shortest: number,
): { readonly start: number; readonly end: number } | null {
  const text = typedText(string)
  const start = firstWordEnd(text)
  for (let end = text.length - 1; end >= start + shortest; end--) {
    if (isWordEnd(text, end)) return { start, end }
  }
  return null
}

/** The first end of a word or number with a symbol or a space after it; else the text's length. */
function firstWordEnd(string: string): number {
  const text = typedText(string)
  let at = 1
  while (at < text.length && !isWordEnd(text, at)) at++
  return Math.min(at, text.length)
}

/** Whether a word or number ends before this place, and a symbol or a space follows. */
function isWordEnd(text: string, at: number): boolean {
  const before = KIND[text.charCodeAt(at - 1)]
  if (before !== LETTER && before !== DIGIT) return false
  const c = text.charCodeAt(at)
  const after = c < 0x80 ? KIND[c] : UNKNOWN
  return (after === SYMBOL || after === SPACE) && c !== APOSTROPHE
}

/**
 * The last boundary in a block of UTF-8 that is safe: after an ASCII letter or digit and before
 * white space, or after a line break and before what is neither white space nor `/`.
 * @returns bytes from `start`, or 0 if there is no such position
 */
export function lastSafeBoundary(bytes: Uint8Array, start: number, length: number): number {
  for (let at = start + length - 1; at > start; at--) {
    const before = KIND[bytes[at - 1]!]!
    const after = KIND[bytes[at]!]!
    const isWordEnd =
      (before === LETTER || before === DIGIT) && (after === SPACE || after === NEWLINE)
    const isLineEnd = before === NEWLINE && after < NEWLINE && bytes[at] !== SLASH
    if (isWordEnd || isLineEnd) return at - start
  }
  return 0
}
