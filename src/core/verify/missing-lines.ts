import { escapeMarks } from '../hints/escape.ts'

/**
 * What is missing in a text: runs of lines, counted from 1, both ends included, and the ends of
 * single lines.
 */
export interface MissingLines {
  readonly runs: readonly { readonly first: number; readonly last: number }[]
  readonly cuts: readonly number[]
}

/** One way to read the text so far. */
interface Reading {
  /** The line of the original that comes next, counted from 0. */
  readonly next: number
  readonly missing: MissingLines
}

/** In place of lines that are missing. */
const MARK = /^\[… (?:line (\d{1,9})|lines (\d{1,9})-(\d{1,9}))\]$/
/** In place of characters of a line. */
const GAP = /…\[\+([1-9]\d{0,8}) chars\]/
/** A text that has marks itself may be read in several ways; more than these are not followed. */
const MOST_READINGS = 64

/**
 * The ways in which `left` can be the original with a mark in place of each run of missing lines;
 * none if it has something else.
 */
export function missingLines(original: string, left: string): readonly MissingLines[] {
  const lines = original.split('\n')
  let readings: Reading[] = [{ next: 0, missing: { runs: [], cuts: [] } }]
  for (const line of left.split('\n')) {
    readings = readings.flatMap(reading => readLine(reading, line, lines)).slice(0, MOST_READINGS)
  }
  return readings.filter(({ next }) => next === lines.length).map(({ missing }) => missing)
}

function readLine({ next, missing }: Reading, line: string, lines: readonly string[]): Reading[] {
  const readings: Reading[] = []
  const original = lines[next]
  if (original === line || (original !== undefined && escapeMarks(original) === line)) {
    readings.push({ next: next + 1, missing })
  } else if (original !== undefined && lacksParts(original, line)) {
    const cuts = [...missing.cuts, next + 1]
    readings.push({ next: next + 1, missing: { ...missing, cuts } })
  }
  const [, only, from = only, to = only] = MARK.exec(line) ?? []
  const [first, last] = [Number(from), Number(to)]
  if (first === next + 1 && last >= first && last <= lines.length) {
    const runs = [...missing.runs, { first, last }]
    readings.push({ next: last, missing: { ...missing, runs } })
  }
  return readings
}

/**
 * Whether `left` is `line` with a true mark in place of one run of its characters or more. A mark
 * may also be the line's own text, so all places at which the rest can go on are followed.
 */
function lacksParts(line: string, left: string): boolean {
  // Text and numbers of characters in turn.
  const pieces = left.split(GAP)
  if (pieces.length === 1) return false
  let places = new Set([0])
  pieces.forEach((piece, index) => {
    const next = new Set<number>()
    const own = index % 2 === 0 ? piece : `…[+${piece} chars]`
    for (const place of places) {
      if (line.startsWith(own, place)) next.add(place + own.length)
      const behind = place + Number(piece)
      if (index % 2 === 1 && behind <= line.length) next.add(behind)
    }
    places = new Set([...next].slice(0, MOST_READINGS))
  })
  return places.has(line.length)
}
