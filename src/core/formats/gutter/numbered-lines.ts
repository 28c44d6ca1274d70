import { MAX_DIGITS, MAX_PAD, SEPARATORS } from './number-layout.ts'

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
 * Whether the lines of a text have a gutter of numbers. Each number must be the one after that of
 * the line before, since other numbers are rather matches of a search, or a list.
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
