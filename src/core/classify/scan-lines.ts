import {
  ASTERISK,
  AT_SIGN,
  BACKSLASH,
  BACKTICK,
  CARRIAGE_RETURN,
  COLON,
  DIGIT_0,
  DIGIT_9,
  LOWER_A,
  LOWER_D,
  MINUS,
  PIPE,
  RIGHT_ARROW,
  SPACE,
  TAB,
  UPPER_T,
} from '../json/char-codes.ts'
import { readDigits } from './digits.ts'

/** Counts of the kinds of lines in one text. */
export interface LineCounts {
  /** Lines that are not blank. */
  filled: number
  fences: number
  headings: number
  bullets: number
  gutters: number
  logLines: number
  stackFrames: number
  /** Lines `key: value` or `key:`. */
  yamlKeys: number
  /** List items and comments between them. */
  yamlOthers: number
  diff: boolean
  /** The first table: cells of its header, and rows below its delimiter. */
  table: { n_cols: number; n_rows: number } | undefined
}

/** More lines with a time stamp than this are not looked for: two are a log. */
const ENOUGH_LOG_LINES = 2
const HASH_SIGN = 0x23
const TRACEBACK = 'Traceback (most recent call last):'
/** Longest key of a line `key: value`. */
const MAX_KEY_CHARS = 64

/** Counts what the lines of a text are, in one pass. */
export function scanLines(text: string): LineCounts {
  const counts: LineCounts = {
    filled: 0,
    fences: 0,
    headings: 0,
    bullets: 0,
    gutters: 0,
    logLines: 0,
    stackFrames: 0,
    yamlKeys: 0,
    yamlOthers: 0,
    diff: false,
    table: undefined,
  }
  let lastNumber = Number.NaN
  /** Start of the line before, if that line may be a table's header. */
  let header = -1
  let inTable = false
  let isAfterBlank = true
  /** The first dash that a time stamp of the line may have. */
  let dash = -1
  for (let start = 0, end = 0; start <= text.length; start = end + 1) {
    end = text.indexOf('\n', start)
    if (end === -1) end = text.length
    let first = start
    while (first < end && isBlank(text.charCodeAt(first))) first++
    const c = first < end ? text.charCodeAt(first) : Number.NaN

    if (c !== PIPE) inTable = false
    else if (inTable) counts.table!.n_rows++
    else if (counts.table === undefined && counts.fences % 2 === 0) {
      if (header !== -1 && isDelimiterRow(text, first, end)) {
        counts.table = { n_cols: countTableCells(text, header, start - 1), n_rows: 0 }
        inTable = true
      }
    }
    header = c === PIPE && isPipeRow(text, first, end) ? first : -1

    if (c >= DIGIT_0 && c <= DIGIT_9) {
      const number = gutterNumber(text, first, end)
      if (number !== undefined) {
        // An arrow after the number is a gutter by itself; a tab also separates the columns of a
        // table, so there the numbers must count up.
        if (number.arrow || number.value === lastNumber + 1) counts.gutters++
        else counts.gutters = Math.max(counts.gutters, 1)
        lastNumber = number.value
      }
    }
    countByFirst(c, text, start, first, end, counts)
    if (c === HASH_SIGN && isAfterBlank && start === first && isHeading(text, first, end)) {
      if (counts.fences % 2 === 0) counts.headings++
    }
    if (first < end && text.charCodeAt(first) !== 0x0d) {
      counts.filled++
      countYaml(c, text, first, end, counts)
      isAfterBlank = false
    } else isAfterBlank = true
    if (counts.logLines < ENOUGH_LOG_LINES) {
      if (dash < first + YEAR_DIGITS) dash = placeOf('-', text, first + YEAR_DIGITS)
      if (dash < end && hasTimeStamp(text, first, end, dash)) counts.logLines++
    }
  }
  return counts
}

/** Counts what the first visible character of a line announces. */
function countByFirst(
  c: number,
  text: string,
  start: number,
  first: number,
  end: number,
  counts: LineCounts,
): void {
  if (c === BACKTICK) {
    if (text.startsWith('```', first)) counts.fences++
  } else if (c === MINUS || c === ASTERISK) {
    if (text.charCodeAt(first + 1) === SPACE && counts.fences % 2 === 0) counts.bullets++
  } else if (c === AT_SIGN) {
    counts.diff ||= text.startsWith('@@ -', first) && text.slice(first + 4, end).includes(' @@')
  } else if (c === LOWER_D) {
    counts.diff ||= text.startsWith('diff --git ', first)
  } else if (c === LOWER_A) {
    const indented = first - start >= 4 || text.charCodeAt(start) === TAB
    if (indented && text.startsWith('at ', first)) counts.stackFrames++
  } else if (c === UPPER_T) {
    if (text.startsWith(TRACEBACK, first)) counts.stackFrames = Math.max(counts.stackFrames, 2)
  }
}

/**
 * `# ` to `###### ` with a blank line after it, or with two signs or more: one sign is also a
 * comment.
 */
function isHeading(text: string, first: number, end: number): boolean {
  let at = first
  while (text.charCodeAt(at) === HASH_SIGN) at++
  const level = at - first
  if (level > 6 || text.charCodeAt(at) !== SPACE || at + 1 >= end) return false
  if (level > 1 || end + 1 >= text.length) return true
  const next = text.charCodeAt(end + 1)
  return next === 0x0a || next === 0x0d
}

function countYaml(c: number, text: string, first: number, end: number, counts: LineCounts): void {
  let at = first
  const isItem = c === MINUS && text.charCodeAt(first + 1) === SPACE
  if (isItem) at += 2
  const limit = Math.min(end, at + MAX_KEY_CHARS)
  const start = at
  while (at < limit && isKeyPart(text.charCodeAt(at))) at++
  const isKey = at > start && text.charCodeAt(at) === COLON
  const after = text.charCodeAt(at + 1)
  if (isKey && (at + 1 === end || after === SPACE || after === 0x0d)) counts.yamlKeys++
  else if (isItem || c === HASH_SIGN) counts.yamlOthers++
}

/** A letter, a digit, `_`, `-`, `.` or `/`. */
function isKeyPart(c: number): boolean {
  const lower = c | 0x20
  return (lower >= 0x61 && lower <= 0x7a) || (c >= 0x2d && c <= DIGIT_9) || c === 0x5f
}

function isBlank(c: number): boolean {
  return c === SPACE || c === TAB
}

/** The number of a line of a file read, `12→…` or `12<TAB>…`. */
function gutterNumber(
  text: string,
  first: number,
  end: number,
): { value: number; arrow: boolean } | undefined {
  const digits = readDigits(text, first, end)
  if (digits === null || digits.end === end) return undefined
  const c = text.charCodeAt(digits.end)
  return c === RIGHT_ARROW || c === TAB
    ? { value: digits.value, arrow: c === RIGHT_ARROW }
    : undefined
}

/** How far into a line its time stamp may begin: level and logger names come first in some logs. */
const LOG_STAMP_WITHIN = 40
/** `d` a digit, `s` a space or `T`, anything else itself. */
const TIME_STAMP = 'dddd-dd-ddsdd:dd'
const YEAR_DIGITS = 4

/**
 * Whether `2026-01-31 23:59` (or with `T`) begins near the start of the line `[first, end)`.
 * @param dash the first one that it may have
 */
function hasTimeStamp(text: string, first: number, end: number, dash: number): boolean {
  const last = Math.min(end - TIME_STAMP.length, first + LOG_STAMP_WITHIN)
  for (let at = dash - YEAR_DIGITS; at <= last; at++) {
    // The two dashes are the rarest part, so they are tried first.
    if (text.charCodeAt(at + 4) !== MINUS || text.charCodeAt(at + 7) !== MINUS) continue
    if (isTimeStamp(text, at)) return true
  }
  return false
}

/** The place of a character at `start` or later; the text's length if there is none. */
function placeOf(char: string, text: string, start: number): number {
  const at = text.indexOf(char, start)
  return at === -1 ? text.length : at
}

function isTimeStamp(text: string, at: number): boolean {
  for (let i = 0; i < TIME_STAMP.length; i++) {
    const c = text.charCodeAt(at + i)
    const expected = TIME_STAMP[i]
    const fits =
      expected === 'd'
        ? c >= DIGIT_0 && c <= DIGIT_9
        : expected === 's'
          ? c === SPACE || c === UPPER_T
          : c === TIME_STAMP.charCodeAt(i)
    if (!fits) return false
  }
  return true
}

/** Whether the line `[first, end)`, which starts with a pipe, also ends with one. */
function isPipeRow(text: string, first: number, end: number): boolean {
  const last = lastVisible(text, first, end)
  return last > first && text.charCodeAt(last) === PIPE
}

/** Whether the line is the row under a header: pipes, dashes and colons, with at least one dash. */
function isDelimiterRow(text: string, first: number, end: number): boolean {
  let dashes = 0
  for (let at = first; at < end; at++) {
    const c = text.charCodeAt(at)
    if (c === MINUS) dashes++
    else if (c !== PIPE && c !== COLON && !isSpace(c)) return false
  }
  return dashes > 0
}

/** Cells of a row that starts and ends with a pipe; `\|` is text. */
function countTableCells(text: string, first: number, end: number): number {
  const last = lastVisible(text, first, end)
  let cells = 0
  for (let at = first + 1; at <= last; at++) {
    const c = text.charCodeAt(at)
    if (c === BACKSLASH) at++
    else if (c === PIPE) cells++
  }
  return cells
}

function lastVisible(text: string, first: number, end: number): number {
  let last = end - 1
  while (last > first && isSpace(text.charCodeAt(last))) last--
  return last
}

function isSpace(c: number): boolean {
  return c === SPACE || c === TAB || c === CARRIAGE_RETURN
}
