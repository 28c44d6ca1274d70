import {
  ASTERISK,
  AT_SIGN,
  BACKTICK,
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
} from '../value/char-codes.ts'
import { countTableCells, isDelimiterRow, isPipeRow } from './markdown-table.ts'

/** Formats looked for inside text and inside the strings of a JSON value, in the order they are reported. */
export const INNER_FORMATS = [
  'url',
  'log',
  'hash',
  'diff',
  'md_table',
  'code_fence',
  'stack_trace',
  'numbered_list',
] as const

export type InnerFormat = (typeof INNER_FORMATS)[number]

/** Which formats were met so far, over all texts scanned. */
export type Findings = Record<InnerFormat, boolean>

/** A shorter string cannot hold any of the formats: a hash of 7 digits plus something around it. */
const MIN_TEXT_LENGTH = 8
/** One line with a time stamp is a date in a sentence or a field; two in one text are a log. */
const MIN_LOG_LINES = 2
/** How far into a line its time stamp may begin: level and logger names come first in some logs. */
const LOG_STAMP_WITHIN = 40
/** Lines "at …" of a stack trace; one alone also occurs in indented prose. */
const MIN_STACK_FRAMES = 2
/** An opening and a closing fence. */
export const MIN_FENCES = 2
/** Lines of a numbered file read, or of a list; fewer also occur by chance in prose. */
export const MIN_LIST_LINES = 3
/** Abbreviated commit ids have 7 digits, SHA-256 has 64. */
const MIN_HASH_DIGITS = 7
const MAX_HASH_DIGITS = 64

/** What the lines of one text were counted to be. */
export interface LineCounts {
  fences: number
  bullets: number
  gutters: number
  logLines: number
  stackFrames: number
  diff: boolean
  /** The first table: cells of its header, and rows below its delimiter. */
  table: { n_cols: number; n_rows: number } | undefined
}

export function noFindings(): Findings {
  return {
    url: false,
    log: false,
    hash: false,
    diff: false,
    md_table: false,
    code_fence: false,
    stack_trace: false,
    numbered_list: false,
  }
}

/**
 * Looks for every inner format in one text, adds what it meets to `findings`, and gives the counts of its
 * lines. Each format costs at most one pass over the text; a format met before is not looked for again.
 */
export function scanText(text: string, findings: Findings): LineCounts | undefined {
  if (text.length < MIN_TEXT_LENGTH) return undefined
  if (!findings.url) findings.url = hasUrl(text)
  if (!findings.hash) findings.hash = hasHash(text)
  const counts = countLines(text)
  findings.log ||= counts.logLines >= MIN_LOG_LINES
  findings.diff ||= counts.diff
  findings.md_table ||= counts.table !== undefined
  findings.code_fence ||= counts.fences >= MIN_FENCES
  findings.stack_trace ||= counts.stackFrames >= MIN_STACK_FRAMES
  findings.numbered_list ||= counts.gutters >= MIN_LIST_LINES
  return counts
}

/** `http://` or `https://`. */
function hasUrl(text: string): boolean {
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    if (text.startsWith('http', at - 4) || text.startsWith('https', at - 5)) return true
  }
  return false
}

const LETTER = 1
const HEX_LETTER = 2
const DIGIT = 4

/** What a code unit below 128 is in the search for hashes; 0 separates words. */
const WORD_CLASS = new Uint8Array(128)
for (let c = 0; c < 128; c++) {
  const char = String.fromCharCode(c)
  if (/[0-9]/.test(char)) WORD_CLASS[c] = DIGIT
  else if (/[a-fA-F]/.test(char)) WORD_CLASS[c] = HEX_LETTER
  else if (/[g-zG-Z_]/.test(char)) WORD_CLASS[c] = LETTER
}

/** A word of hex digits only, as long as a hash, with a digit and a letter: neither a number nor a word. */
function hasHash(text: string): boolean {
  let seen = 0
  let start = 0
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at)
    const kind = c < 128 ? WORD_CLASS[c]! : LETTER
    if (kind !== 0) {
      seen |= kind
      continue
    }
    if (seen === (DIGIT | HEX_LETTER) && isHashLength(at - start)) return true
    seen = 0
    start = at + 1
  }
  return seen === (DIGIT | HEX_LETTER) && isHashLength(text.length - start)
}

function isHashLength(digits: number): boolean {
  return digits >= MIN_HASH_DIGITS && digits <= MAX_HASH_DIGITS
}

function countLines(text: string): LineCounts {
  const counts: LineCounts = {
    fences: 0,
    bullets: 0,
    gutters: 0,
    logLines: 0,
    stackFrames: 0,
    diff: false,
    table: undefined,
  }
  let lastNumber = Number.NaN
  /** Start of the line before, if that line may be a table's header. */
  let header = -1
  let inTable = false
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
        // An arrow after the number is a gutter by itself; a tab also separates the columns of a table,
        // so there the numbers must count up.
        if (number.arrow || number.value === lastNumber + 1) counts.gutters++
        else counts.gutters = Math.max(counts.gutters, 1)
        lastNumber = number.value
      }
    }
    countByFirst(c, text, start, first, end, counts)
    if (counts.logLines < MIN_LOG_LINES && hasTimeStamp(text, first, end)) counts.logLines++
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
    if (text.startsWith('Traceback (most recent call last):', first)) {
      counts.stackFrames = Math.max(counts.stackFrames, MIN_STACK_FRAMES)
    }
  }
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
  let value = 0
  let at = first
  for (; at < end; at++) {
    const c = text.charCodeAt(at)
    if (c < DIGIT_0 || c > DIGIT_9) break
    value = value * 10 + (c - DIGIT_0)
  }
  const c = text.charCodeAt(at)
  if (at === end || (c !== RIGHT_ARROW && c !== TAB)) return undefined
  return { value, arrow: c === RIGHT_ARROW }
}

/** `d` a digit, `s` a space or `T`, anything else itself. */
const TIME_STAMP = 'dddd-dd-ddsdd:dd'

/** Whether `2026-01-31 23:59` (or with `T`) begins near the start of the line. */
function hasTimeStamp(text: string, first: number, end: number): boolean {
  const last = Math.min(end - TIME_STAMP.length, first + LOG_STAMP_WITHIN)
  for (let at = first; at <= last; at++) {
    // The two dashes are the rarest part, so they are tried first.
    if (text.charCodeAt(at + 4) !== MINUS || text.charCodeAt(at + 7) !== MINUS) continue
    if (isTimeStamp(text, at)) return true
  }
  return false
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
