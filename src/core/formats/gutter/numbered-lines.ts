import { readDigits } from '../../classify/digits.ts'
import { COLON, PIPE, RIGHT_ARROW, SPACE, TAB } from '../../json/char-codes.ts'

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

/**
 * Longest gutter in characters, so that a text with its gutters is at most a fixed number of times
 * longer than without.
 */
const MAX_GUTTER = 12

/** The number before a line of a text; `width` is up to and with the last digit. */
export interface LineGutter extends NumberLayout {
  readonly number: number
}

/** Reads the gutter of a line: spaces, a number, the separator. Returns `null` if it has none. */
export function readLineGutter(line: string, separator: string): LineGutter | null {
  const first = spacesBefore(line, MAX_GUTTER)
  const digits = readDigits(line, first, MAX_GUTTER)
  if (digits === null || line[digits.end] !== separator) return null
  return { number: digits.value, width: digits.end, padded: first > 0 }
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
