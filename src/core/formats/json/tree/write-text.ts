import { typedText } from '../../../base/typed-text.ts'
import {
  BACKTICK,
  MINUS,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
} from '../../../json/char-codes.ts'
import { NumberLiteral, type Value } from '../../../json/value.ts'
import { escapeText, isAmbiguous } from '../../bare-text.ts'
import {
  BACKSLASH_BIT,
  contentOf,
  LINE_FEED_BIT,
  QUOTE_BIT,
  TAB_BIT,
  UNSAFE_BIT,
} from '../../text-content.ts'
import { FENCE_CHAR, PATTERN_MARK, SHORTEST_FENCE } from './syntax.ts'

const FENCE = FENCE_CHAR.repeat(SHORTEST_FENCE)

export type Scalar = string | number | boolean | null | NumberLiteral

export function isScalar(value: Value): value is Scalar {
  return typeof value !== 'object' || value === null || value instanceof NumberLiteral
}

/**
 * A scalar at a place for any kind of value: strings are without quotes if nothing in them is in
 * `not` and they cannot be read as another value.
 */
export function writeScalar(value: Scalar, not: number): string {
  if (typeof value === 'string') return writeString(value, not)
  return value instanceof NumberLiteral ? value.text : String(value)
}

function writeString(text: string, not: number): string {
  const bits = factsOf(text)
  return (bits & (not | NEVER_BARE_BIT)) !== 0 ? quoteText(text, bits) : text
}

/** Beside the bits of `contentOf`: without quotes the text would be read as something else. */
export const NEVER_BARE_BIT = 1 << 20

/** The bits that decide whether a string at a place for any kind of value is without quotes. */
export function factsOf(text: string): number {
  const bits = contentOf(text)
  return isAmbiguous(text) || startsMark(text) ? bits | NEVER_BARE_BIT : bits
}

const CHANGED_BY_JSON = QUOTE_BIT | BACKSLASH_BIT | TAB_BIT | LINE_FEED_BIT | UNSAFE_BIT

/**
 * `escapeText` of a string whose content is known.
 * @param bits of `contentOf`
 */
export function quoteText(text: string, bits: number): string {
  return (bits & CHANGED_BY_JSON) === 0 ? `"${text}"` : escapeText(text)
}

/** A string at a place for strings only, so that numbers and literals need no quotes. */
export function writeText(text: string, not: number): string {
  const bits = contentOf(text)
  return (bits & not) !== 0 || !isPlain(text) ? quoteText(text, bits) : text
}

/** The cell's own text in a column with a pattern, in which only `null` is no string. */
export function writePatterned(text: string, not: number): string {
  return text === 'null' ? '"null"' : writeText(text, not)
}

/** A prefix or suffix around the pattern's mark: nothing, bare, or in quotes. */
export function writeAffix(text: string, not: number, outer: number): string {
  if (text === '') return ''
  const edge = text.charCodeAt(outer === 0 ? 0 : text.length - 1)
  const bare =
    (contentOf(text) & not) === 0 &&
    !text.includes(PATTERN_MARK) &&
    edge > SPACE &&
    edge < 0x7f &&
    edge !== QUOTE
  return bare ? text : escapeText(text)
}

/**
 * Whether the text is not empty, has no white space at its ends, and does not begin like another
 * construct.
 */
export function isPlain(string: string): boolean {
  const text = typedText(string)
  const first = text.charCodeAt(0)
  return (
    text.length > 0 &&
    first !== QUOTE &&
    first !== OPEN_BRACKET &&
    first !== OPEN_BRACE &&
    text.trim() === text &&
    !startsMark(text)
  )
}

/** Whether it begins as an item of a list or a fence does. */
function startsMark(string: string): boolean {
  const text = typedText(string)
  const c = text.charCodeAt(0)
  return (c === MINUS && text.charCodeAt(1) === SPACE) || (c === BACKTICK && text.startsWith(FENCE))
}
