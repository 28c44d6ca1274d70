/**
 * Text from content, written so that it stays one value of a hint: bare if every character is
 * harmless, else between quotes with JSON's escapes. No bracket, line break or invisible character
 * gets through, so the only `]` that can end a hint is its own.
 */

import { NumberLiteral } from '../json/value.ts'
import { HIDDEN_CLASS } from './hidden-characters.ts'

/** A value of which only one end is shown; the rest is cut away. */
export type Excerpt = { readonly start: string } | { readonly end: string }
/** A value as a reader sees it: whole, or an excerpt. */
export type Shown = string | Excerpt

/**
 * Marks the place at which a value was cut, as in the patterns of a shell. It is never bare in a
 * value itself.
 */
export const CUT_MARK = '*'

/** Texts that need no quotes. */
const BARE = /^[A-Za-z0-9_./$~@%+?&#!-]+$/
const WORD = /^[A-Za-z][A-Za-z_-]*$/
/** Harmless beside the brackets, colons and digits that a path of our own spelling has. */
const PATH = /^\$(?:\.[A-Za-z_][A-Za-z0-9_]*|\[-?\d{1,15}\]|\[(?:-?\d{1,15})?:(?:-?\d{1,15})?\])+$/
const LINES = /^lines [1-9]\d{0,14}-[1-9]\d{0,14}$/

/** Characters that JSON may leave bare, but we do not: brackets, and invisible ones. */
const ESCAPED = new RegExp(`[\\[\\]${HIDDEN_CLASS}]`, 'gu')

/** Text between quotes. */
export function quote(text: string): string {
  return JSON.stringify(text).replace(ESCAPED, escapeAll)
}

/** The text unchanged if it needs no quotes, otherwise in quotes. */
export function writeText(text: string): string {
  return BARE.test(text) ? text : quote(text)
}

/** A word of letters, such as a unit, unchanged; other text in quotes. */
export function writeWord(word: string): string {
  return WORD.test(word) ? word : quote(word)
}

/** A place: a JSON path or lines unchanged, other text as `writeText` writes it. */
export function writePlace(place: string): string {
  return PATH.test(place) || LINES.test(place) ? place : writeText(place)
}

/**
 * A value of which at most `limit` UTF-16 code units are shown.
 * @param write `writeText` or `quote`
 */
export function writeShown(
  shown: Shown,
  limit: number,
  write: (text: string) => string = writeText,
): string {
  const cut = cutShown(shown, limit)
  if (typeof cut === 'string') return write(cut)
  return 'start' in cut ? write(cut.start) + CUT_MARK : CUT_MARK + write(cut.end)
}

/** The part that `writeShown` shows. It never ends inside a surrogate pair. */
export function cutShown(shown: Shown, limit: number): Shown {
  if (typeof shown === 'string') {
    return shown.length <= limit ? shown : { start: shown.slice(0, wholeEnd(shown, limit)) }
  }
  if ('start' in shown) return { start: shown.start.slice(0, wholeEnd(shown.start, limit)) }
  const from = Math.max(0, shown.end.length - limit)
  return { end: shown.end.slice(isLow(shown.end, from) && from > 0 ? from + 1 : from) }
}

function wholeEnd(text: string, limit: number): number {
  return limit < text.length && isLow(text, limit) ? limit - 1 : Math.min(limit, text.length)
}

function isLow(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff
}

/** JSON's escape of each of its UTF-16 code units. */
function escapeAll(character: string): string {
  return Array.from({ length: character.length }, (_, at) => {
    return `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`
  }).join('')
}

/** A JSON scalar; a number whose spelling a double cannot keep is a `NumberLiteral`. */
export type Scalar = null | boolean | number | NumberLiteral | string

/** Text that represents something else than the string of these characters. */
const LITERAL = /^(?:-?\d.*|-?Infinity|NaN|true|false|null)$/s

/**
 * Writes a scalar. Strings are bare if they are harmless and no JSON literal; everything else is as
 * in JSON.
 */
export function writeScalar(scalar: Scalar): string {
  if (typeof scalar === 'string') return LITERAL.test(scalar) ? quote(scalar) : writeText(scalar)
  return scalar instanceof NumberLiteral ? scalar.text : String(scalar)
}
