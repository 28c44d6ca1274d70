import { DIGIT_0, DIGIT_9, SPACE } from '../../json/char-codes.ts'

/** Separators between a line number and its line, as viewers and searches print them. */
export const SEPARATORS = { arrow: '→', tab: '\t', colon: ':', dash: '-', bar: '|' } as const

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
  let first = 0
  while (first < MAX_GUTTER && line.charCodeAt(first) === SPACE) first++
  let end = first
  let number = 0
  for (; end < MAX_GUTTER; end++) {
    const c = line.charCodeAt(end)
    if (!(c >= DIGIT_0 && c <= DIGIT_9)) break
    number = number * 10 + (c - DIGIT_0)
  }
  if (end === first || line[end] !== separator) return null
  return { number, width: end, padded: first > 0 }
}

const { tab, arrow, colon, bar } = SEPARATORS
/** A line's number as tools print it: `  12\t`, `    12→`, `12:`, `12|`. */
const GUTTER = new RegExp(
  String.raw`^ {0,${MAX_PAD}}\d{1,${MAX_DIGITS}}(?:${tab}|${arrow}|${colon} ?|[${bar}] ?)`,
)

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
    const gutter = GUTTER.exec(line)
    if (gutter === null) continue
    const number = Number.parseInt(gutter[0], 10)
    if (number === last + 1 || numbered === 0) numbered++
    last = number
  }
  return filled >= LEAST_LINES && numbered >= filled * SHARE
}

/** A line without its number. */
export function withoutNumber(line: string): string {
  return line.slice(GUTTER.exec(line)?.[0].length ?? 0)
}
