import { readDigits } from '../../classify/digits.ts'
import { COLON, DIGIT_0, DIGIT_9, PIPE, RIGHT_ARROW, SPACE, TAB } from '../../json/char-codes.ts'

/** Separators between a line number and its line, as viewers and searches print them. */
export const SEPARATORS = { arrow: '→', tab: '\t', colon: ':', dash: '-' } as const

/** Most spaces before a number; no viewer pads more. */
export const MAX_PAD = 12
/** Most digits of a line number. */
export const MAX_DIGITS = 9

/** How the numbers before lines are printed. */
export interface NumberLayout {
  /** Spaces and digits of the number that the layout was read from. */
  readonly width: number
  /** Whether there are spaces before the number. */
  readonly padded: boolean
}

/**
 * A number with the spaces before it: right-aligned to the layout's width if the layout has spaces,
 * otherwise not aligned.
 */
export function printNumber({ width, padded }: NumberLayout, number: number): string {
  const digits = String(number)
  return padded ? digits.padStart(width) : digits
}

/** The length of what `printNumber` returns. */
export function printedWidth({ width, padded }: NumberLayout, number: number): number {
  const digits = digitsOf(number)
  return padded ? Math.max(width, digits) : digits
}

/** Whether what `printNumber` returns stands in a text from `start` on. */
export function isPrinted(
  text: string,
  start: number,
  layout: NumberLayout,
  number: number,
): boolean {
  let at = start + printedWidth(layout, number) - 1
  for (let left = number; ; left = Math.floor(left / 10), at--) {
    if (text.charCodeAt(at) !== DIGIT_0 + (left % 10)) return false
    if (left < 10) break
  }
  while (--at >= start) if (text.charCodeAt(at) !== SPACE) return false
  return true
}

/** How many digits a number has, from 0 on. */
export function digitsOf(number: number): number {
  let digits = 1
  for (let bound = 10; number >= bound; bound *= 10) digits++
  return digits
}

/**
 * Longest gutter in characters, so that a text with its gutters is at most a fixed number of times
 * longer than without.
 */
const MAX_GUTTER = 12

/** The number before a line of a text; `width` is up to and with the last digit. */
export interface LineGutter extends NumberLayout {
  readonly number: number
}

/**
 * Reads the gutter of the line `[start, end)` of a text: spaces, a number, the code unit of the
 * separator. Returns `null` if it has none.
 */
export function readLineGutter(
  text: string,
  start: number,
  end: number,
  separator: number,
): LineGutter | null {
  const limit = Math.min(end, start + MAX_GUTTER)
  let first = start
  while (first < limit && text.charCodeAt(first) === SPACE) first++
  const digits = readDigits(text, first, limit)
  if (digits === null || digits.end === end || text.charCodeAt(digits.end) !== separator) {
    return null
  }
  return { number: digits.value, width: digits.end - start, padded: first > start }
}

/** The code unit after the number that the line at `start` begins with; NaN if there is none. */
export function gutterSeparator(text: string, start: number): number {
  const limit = start + MAX_GUTTER
  let at = start
  while (at < limit && text.charCodeAt(at) === SPACE) at++
  const digits = at
  while (at < limit && isDigit(text.charCodeAt(at))) at++
  return at === digits ? Number.NaN : text.charCodeAt(at)
}

function isDigit(c: number): boolean {
  return c >= DIGIT_0 && c <= DIGIT_9
}

/** How many spaces a line begins with, at most `most`. */
function spacesBefore(line: string, most: number): number {
  let count = 0
  while (count < most && line.charCodeAt(count) === SPACE) count++
  return count
}

/** A line's number as any tool prints it: `  12\t`, `    12→`, `12:`, `12|`. */
function readAnyGutter(line: string): { readonly number: number; readonly end: number } | null {
  const first = spacesBefore(line, MAX_PAD)
  const digits = readDigits(line, first, first + MAX_DIGITS)
  if (digits === null) return null
  const { value: number, end } = digits
  const c = line.charCodeAt(end)
  if (c === TAB || c === RIGHT_ARROW) return { number, end: end + 1 }
  if (c !== COLON && c !== PIPE) return null
  return { number, end: line.charCodeAt(end + 1) === SPACE ? end + 2 : end + 1 }
}

/** The numbers are a gutter if at least this share of the lines that are not blank has one. */
const SHARE = 0.8
/** Fewer lines are not enough to decide. */
const LEAST_LINES = 5

/**
 * Whether the lines of a text have a gutter of numbers. The numbers must count up by one from line
 * to line. Other numbers are more probably matches of a search, or a list.
 */
export function hasGutter(lines: readonly string[]): boolean {
  let numbered = 0
  let filled = 0
  let last = 0
  for (const line of lines) {
    if (line.trim() === '') continue
    filled++
    const gutter = readAnyGutter(line)
    if (gutter === null) continue
    const { number } = gutter
    if (number === last + 1 || numbered === 0) numbered++
    last = number
  }
  return filled >= LEAST_LINES && numbered >= filled * SHARE
}

/** A line without its number. */
export function withoutNumber(line: string): string {
  return line.slice(readAnyGutter(line)?.end ?? 0)
}
