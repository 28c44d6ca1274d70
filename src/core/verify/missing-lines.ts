import { hunkEnd } from '../classify/hunk-end.ts'
import { lineCount, nameOfLine, printedNames } from '../formats/gutter/printed-lines.ts'
import { RAW_HUNK } from '../formats/text/diff-hunks.ts'
import { escapeMarks } from '../hints/escape.ts'

/** A run of missing lines, by the names that a reader has for them, both ends included. */
interface MissingRun {
  readonly first: number
  readonly last: number
  readonly omitted: number
}

/** What is missing in a text: runs of lines, and parts of single lines, by their names. */
export interface MissingLines {
  readonly runs: readonly MissingRun[]
  readonly cuts: readonly number[]
}

/** One way to read the text so far. */
interface Reading {
  /** The line of the original that comes next, counted from 0. */
  readonly next: number
  readonly missing: MissingLines
  /** The hunk of a diff that is read in parts; absent: none is. */
  readonly hunk?: OpenHunk
}

/** A hunk of the original, of which the rest has only parts, each with a header of its own. */
interface OpenHunk {
  readonly end: number
  /** The lines of both files that the next line of the original is. */
  readonly oldLine: number
  readonly newLine: number
  /** Lines of both files that the part still has. */
  readonly olds: number
  readonly news: number
}

/**
 * The mark that replaces missing lines; in a diff, with the lines that it adds and removes, or with
 * a word. Failures among the lines are counted by their kinds.
 */
const MARK =
  /^\[… (?:line (\d{1,9})|lines (\d{1,9})-(\d{1,9})(?: moved| \+(\d{1,9}) −(\d{1,9}))?)((?:, \d{1,9} (?:like "[^"]{1,40}"|(?:other )?failures?))*)\]$/
const COUNT = /, (\d{1,9}) /g
/** The first line of a diff with less context. */
const VIEW = /^\[… lines 1-(\d{1,9}) with context \d\]$/
/** The mark that replaces characters of a line. */
const GAP = /…\[\+([1-9]\d{0,8}) chars\]/
/** A text that has marks itself may be read in several ways; more than these are not followed. */
const MOST_READINGS = 64

/**
 * The ways in which `left` can be the original with a mark in place of each run of missing lines;
 * none if it has something else. A diff may have parts of a hunk instead, whose headers say which
 * lines they are.
 */
export function missingLines(original: string, left: string): readonly MissingLines[] {
  const lines = original.split('\n')
  let readings: Reading[] = [{ next: 0, missing: { runs: [], cuts: [] } }]
  for (const [index, line] of left.split('\n').entries()) {
    if (index === 0 && Number(VIEW.exec(line)?.[1]) === lineCount(lines)) continue
    readings = readings.flatMap(reading => readLine(reading, line, lines)).slice(0, MOST_READINGS)
  }
  return readings
    .map(closeHunk)
    .filter(({ next }) => next === lines.length)
    .map(({ missing }) => missing)
}

function readLine(reading: Reading, line: string, lines: readonly string[]): Reading[] {
  const { next, missing, hunk } = reading
  const original = lines[next]
  if (hunk !== undefined && (hunk.olds > 0 || hunk.news > 0 || line.startsWith('\\'))) {
    const isNext = original !== undefined && escapeMarks(original) === line
    return isNext ? [passed(reading, original)] : []
  }
  const readings: Reading[] = []
  const part = readPart(reading, line, lines)
  if (part !== null) readings.push(part)
  const [, only, from = only, to = only, added, removed, counts = ''] = MARK.exec(line) ?? []
  const [first, last] = [Number(from), Number(to)]
  const isCounted =
    added === undefined ||
    (Number(added) === signed(lines, '+', first, last) &&
      Number(removed) === signed(lines, '-', first, last))
  const failed = [...counts.matchAll(COUNT)].reduce((sum, [, count]) => sum + Number(count), 0)
  const names = printedNames(lines)
  const end = names === null ? last : names.indexOf(last, next) + 1
  const isTrue = first === nameOfLine(names, next) && end > next && end <= lineCount(lines)
  if (isTrue && isCounted && failed <= end - next) {
    const runs = [...missing.runs, { first, last, omitted: end - next }]
    if (hunk === undefined) readings.push({ next: end, missing: { ...missing, runs } })
    else {
      const skipped = skipTo(reading, end, lines)
      if (skipped !== null) readings.push(skipped)
    }
  }
  if (hunk !== undefined) return [...readings, ...readLine(closeHunk(reading), line, lines)]
  if (original === line || (original !== undefined && escapeMarks(original) === line)) {
    readings.push({ next: next + 1, missing })
  } else if (original !== undefined && lacksParts(original, line)) {
    const cuts = [...missing.cuts, nameOfLine(names, next)]
    readings.push({ next: next + 1, missing: { ...missing, cuts } })
  }
  return readings
}

/** Lines of hunks with a sign, from the first to the last, counted from 1. */
function signed(lines: readonly string[], sign: string, first: number, last: number): number {
  return lines.slice(first - 1, last).filter(line => line.startsWith(sign)).length
}

/** The header of a part of a hunk: of the one that begins here, or of the one that is read. */
function readPart(reading: Reading, line: string, lines: readonly string[]): Reading | null {
  const header = RAW_HUNK.exec(line)
  if (header === null || line === lines[reading.next]) return null
  let at = reading
  if (at.hunk === undefined) {
    const whole = RAW_HUNK.exec(lines[at.next] ?? '')
    if (whole === null) return null
    const end = hunkEnd(lines, at.next, [whole[2], whole[4]])
    const hunk = { end, ...firstLines(whole), olds: 0, news: 0 }
    at = { next: at.next + 1, missing: at.missing, hunk }
  }
  const { oldLine, newLine } = firstLines(header)
  let [old, fresh] = [at.hunk!.oldLine, at.hunk!.newLine]
  let place = at.next
  for (; place < at.hunk!.end && (old < oldLine || fresh < newLine); place++) {
    const sign = lines[place]!.charAt(0)
    if (sign !== '+' && sign !== '\\') old++
    if (sign !== '-' && sign !== '\\') fresh++
  }
  // A note on the last line that is missing goes with it.
  while (place < at.hunk!.end && lines[place]!.startsWith('\\')) place++
  const found = skipTo(at, place, lines)
  if (found?.hunk?.oldLine !== oldLine || found.hunk.newLine !== newLine) return null
  const [, , olds = '1', , news = '1'] = header
  return { ...found, hunk: { ...found.hunk, olds: Number(olds), news: Number(news) } }
}

/** The first line of a hunk in both files; a side without lines names the line before it. */
function firstLines([, oldStart, olds, newStart, news]: RegExpExecArray) {
  return {
    oldLine: Number(oldStart) + (olds === '0' ? 1 : 0),
    newLine: Number(newStart) + (news === '0' ? 1 : 0),
  }
}

/** The reading after a line that the rest has, of a part of a hunk. */
function passed({ next, missing, hunk }: Reading, line: string): Reading {
  const sign = line.charAt(0)
  const olds = sign === '+' || sign === '\\' ? 0 : 1
  const news = sign === '-' || sign === '\\' ? 0 : 1
  const { end, ...at } = hunk!
  return {
    next: next + 1,
    missing,
    hunk: {
      end,
      oldLine: at.oldLine + olds,
      newLine: at.newLine + news,
      olds: at.olds - olds,
      news: at.news - news,
    },
  }
}

/** The reading if the lines up to `place` are missing; `null` if they are not in the hunk. */
function skipTo(reading: Reading, place: number, lines: readonly string[]): Reading | null {
  const { next, missing, hunk } = reading
  if (hunk === undefined || place > hunk.end) return null
  let [old, fresh] = [hunk.oldLine, hunk.newLine]
  for (let at = next; at < place; at++) {
    const sign = lines[at]!.charAt(0)
    if (sign !== '+' && sign !== '\\') old++
    if (sign !== '-' && sign !== '\\') fresh++
  }
  const gone = { first: next + 1, last: place, omitted: place - next }
  const runs = place === next ? missing.runs : [...missing.runs, gone]
  const at = { ...hunk, oldLine: old, newLine: fresh }
  return { next: place, missing: { ...missing, runs }, hunk: at }
}

/** The reading after a hunk, of which the rest has no further part. */
function closeHunk({ next, missing, hunk }: Reading): Reading {
  if (hunk === undefined || next >= hunk.end) return { next, missing }
  const gone = { first: next + 1, last: hunk.end, omitted: hunk.end - next }
  const runs = [...missing.runs, gone]
  return { next: hunk.end, missing: { ...missing, runs } }
}

/**
 * Whether `left` is `line` with a true mark in place of one run of its characters or more. A mark
 * may also be the line's own text, so all places at which the rest can continue are followed.
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
      const after = place + Number(piece)
      if (index % 2 === 1 && after <= line.length) next.add(after)
    }
    places = new Set([...next].slice(0, MOST_READINGS))
  })
  return places.has(line.length)
}
