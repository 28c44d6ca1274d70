import { readDigits } from '../../../classify/digits.ts'
import { RIGHT_ARROW, SPACE, TAB } from '../../../json/char-codes.ts'
import type { TokenCounter } from '../../../tokens/counter.ts'
import { createHunkTracker, type HunkTracker, NO_HUNKS } from '../prefix-groups.ts'
import { templateOf } from './line-template.ts'
import { familiesAmong, likePlaces, type ReadTemplates, readTemplates } from './line-templates.ts'

/** Lines of a text that one template and the cells of each line represent. */
export interface LineTable {
  /** With `{1}` in place of a line's first cell, and so on. */
  readonly template: string
  /** Between the cells of a row; empty if a row is one cell. */
  readonly separator: string
  /** The row of each line that has the template, by the line's index. */
  readonly rows: ReadonlyMap<number, string>
  /** Tokens that it saves. */
  readonly gain: number
}

/** Fewest lines of a template. */
const FEWEST_LINES = 3
/** Words of a line at least, and at most. */
const FEWEST_WORDS = 3
/** The same for lines that only look alike. */
const FEWEST_OF_LISTING = 8
const FEWEST_WORDS_OF_LISTING = 2
const MOST_WORDS = 48
const DIGIT = /\d/
const NEXT_DIGIT = /\d/g
/** Share of a column's cells with a digit, if the column shows that a program wrote the lines. */
const DIGIT_SHARE = 0.5
/** Lines with a digit that a template has at least. */
const FEWEST_VARYING = Math.ceil(FEWEST_LINES * DIGIT_SHARE)
/** Tokens of a line that names the template of the lines below it, and of the one after them. */
const SWITCH_TOKENS = 3
/** Characters of a token, of which texts with numbers have fewer than others. */
const CHARS_PER_TOKEN = 2
const SEPARATORS = [' ', ',', '|', '\t']
/**
 * A line of source code or of settings, by an assignment, a comment or its end: an agent edits
 * files by what it read.
 */
const ASSIGNMENT = /^\s*(?:\w+ ){0,2}[\w.$[\]]+ ?[:+*-]?= ?/
const COMMENT = /\s\/\/\s/
const OPEN_ENDS = new Set([...';{([,'].map(sign => sign.charCodeAt(0)))
/** A row of a Markdown table, what says that lines are missing, and a hint. */
const FIXED = /^(?:\||\[…|> \[)/
/**
 * A line of a file with its number, as a search prints it. A line and a column, as compilers write
 * them, and times are none.
 */
const OF_FILE = /^ *(?:\d+[:-](?!\d)|\S+?[:-]\d+[:-](?!\d| \S))/

/**
 * The tables of a text's lines that take fewer tokens than the lines themselves. Linear: each line
 * is in one table at most.
 * @param least tokens; if all tables can hardly save so many, nothing is counted
 */
export function findTables(
  text: string,
  counter: TokenCounter,
  least: number,
): readonly LineTable[] {
  const hunks = createHunkTracker(text)
  const isNumbered = numberedLinesOf(text)
  // Most texts are source code, or files with numbers before their lines.
  if (hunks === NO_HUNKS && !hasFreeDigits(text, isNumbered, FEWEST_VARYING)) return []
  const lines = freeLines(text, hunks, isNumbered)
  if (lines.reduce((sum, line) => sum + line.length, 0) < least * CHARS_PER_TOKEN) return []
  if (!hasLinesWith(DIGIT, lines, FEWEST_VARYING)) return []
  const mined = readTemplates(lines)
  const places = Array.from(lines.keys()).filter(at => mined.ids[at] !== -1)
  const alike = likePlaces(places, mined, { lines: FEWEST_LINES, varying: FEWEST_VARYING })
  // Even a listing is of such lines.
  if (charsOf(alike, lines) < least * CHARS_PER_TOKEN) return []
  const strict: Draft[] = []
  const drafted = new Set<number>()
  for (const family of familiesAmong(alike, mined, { isLoose: false })) {
    const draft = family.length < FEWEST_LINES ? null : draftOf(family, lines, mined, FEWEST_WORDS)
    if (draft === null) continue
    strict.push(draft)
    for (const at of family) drafted.add(at)
  }
  const others = drafted.size === 0 ? alike : alike.filter(at => !drafted.has(at))
  const mixed = [...strict, ...listingDrafts(others, lines, mined)]
  const loose = strict.length === 0 ? mixed : listingDrafts(alike, lines, mined)
  const drafts = savedChars(loose) > savedChars(mixed) ? loose : mixed
  if (savedChars(drafts) < least * CHARS_PER_TOKEN) return []
  return drafts.flatMap(draft => priced(draft, lines, counter) ?? [])
}

/** Drafts of lines of which most words may differ, as in listings of files and packages. */
function listingDrafts(
  places: readonly number[],
  lines: readonly string[],
  mined: ReadTemplates,
): readonly Draft[] {
  const alike = likePlaces(places, mined, { lines: FEWEST_OF_LISTING, varying: FEWEST_VARYING })
  return familiesAmong(alike, mined, { isLoose: true }).flatMap(family => {
    if (family.length < FEWEST_OF_LISTING) return []
    return draftOf(family, lines, mined, FEWEST_WORDS_OF_LISTING) ?? []
  })
}

function charsOf(places: readonly number[], lines: readonly string[]): number {
  return places.reduce((sum, at) => sum + lines[at]!.length, 0)
}

function savedChars(drafts: readonly Draft[]): number {
  return drafts.reduce((sum, { chars }) => sum + chars, 0)
}

/** The lines that may be put into a template, and empty ones in place of all others. */
function freeLines(text: string, hunks: HunkTracker, isNumbered: LineTest): readonly string[] {
  const free: string[] = []
  for (let start = 0, end = 0; start <= text.length; start = end + 1) {
    end = lineEnd(text, start)
    const isEmpty = hunks.has(start, end) || isNumbered(start, end)
    const line = isEmpty ? '' : text.slice(start, end)
    free.push(isEmpty || isFixed(line) ? '' : line)
  }
  return free
}

/** Whether so many free lines of a text without hunks have a digit. No other line is looked at. */
function hasFreeDigits(text: string, isNumbered: LineTest, fewest: number): boolean {
  let count = 0
  for (let at = digitFrom(text, 0); at !== -1 && count < fewest; ) {
    const start = text.lastIndexOf('\n', at) + 1
    const end = lineEnd(text, at)
    if (!isNumbered(start, end) && !isFixed(text.slice(start, end))) count++
    at = digitFrom(text, end)
  }
  return count >= fewest
}

function digitFrom(text: string, start: number): number {
  NEXT_DIGIT.lastIndex = start
  return NEXT_DIGIT.test(text) ? NEXT_DIGIT.lastIndex - 1 : -1
}

/** Tells of the line `[start, end)` whether it begins with its number in a file. */
function numberedLinesOf(text: string): LineTest {
  let isRead: boolean | undefined
  return (start, end) => {
    const sign = signOfNumber(text, start, end)
    if (sign !== TAB) return sign === RIGHT_ARROW
    isRead ??= countsUp(text)
    return isRead
  }
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf('\n', start)
  return end === -1 ? text.length : end
}

/** The number that a line begins with; `null` if it has none, or nothing else. */
function numberOf(text: string, start: number, end: number): ReturnType<typeof readDigits> {
  let at = start
  while (at < end && text.charCodeAt(at) === SPACE) at++
  const digits = readDigits(text, at, end)
  return digits === null || digits.end === end ? null : digits
}

/** The character after the number that a line begins with; NaN if there is none. */
function signOfNumber(text: string, start: number, end: number): number {
  return text.charCodeAt(numberOf(text, start, end)?.end ?? text.length)
}

/**
 * Whether numbers before tabs are those of the lines of a file: most are one more than the one
 * before. Sizes and counts are not.
 */
function countsUp(text: string): boolean {
  let numbered = 0
  let follow = 0
  let last = Number.NaN
  for (let start = 0, end = 0; start <= text.length; start = end + 1) {
    end = lineEnd(text, start)
    const digits = numberOf(text, start, end)
    if (digits === null || text.charCodeAt(digits.end) !== TAB) continue
    if (digits.value === last + 1) follow++
    last = digits.value
    numbered++
  }
  return follow * 2 >= numbered - 1
}

/** Whether a reader needs a line as it is. */
function isFixed(line: string): boolean {
  if (OPEN_ENDS.has(line.charCodeAt(line.length - 1))) return true
  if (FIXED.test(line) || OF_FILE.test(line)) return true
  return (
    (line.includes('=') && ASSIGNMENT.test(line)) || (line.includes('//') && COMMENT.test(line))
  )
}

type LineTest = (start: number, end: number) => boolean

/** A table that is not priced yet. */
interface Draft {
  readonly template: string
  readonly separator: string
  readonly places: readonly number[]
  readonly rows: readonly string[]
  /** Characters that it saves. */
  readonly chars: number
}

function draftOf(
  family: readonly number[],
  lines: readonly string[],
  { ids, facts }: ReadTemplates,
  fewestWords: number,
): Draft | null {
  const words = splitWords(lines[family[0]!]!)
  if (words.length < fewestWords || words.length > MOST_WORDS) return null
  const places: number[] = []
  const values: (readonly string[])[] = []
  for (const at of family) {
    const own = splitWords(lines[at]!)
    if (own.length !== words.length) continue
    places.push(at)
    values.push(own)
  }
  if (places.length < FEWEST_LINES) return null
  // No column has more digits than the lines.
  const varying = places.filter(at => facts[ids[at]!]!.mayVary).length
  if (varying < places.length * DIGIT_SHARE) return null
  const template = templateOf(values)
  if (template === null || !hasNumbers(template.rows)) return null
  const separator = separatorOf(template.rows)
  if (separator === undefined) return null
  const rows = template.rows.map(row => row.join(separator))
  // An empty row is a blank line.
  if (rows.includes('')) return null
  const length = (sum: number, each: string) => sum + each.length
  const before = charsOf(places, lines)
  const chars = before - rows.reduce(length, template.text.length)
  return chars <= 0 ? null : { template: template.text, separator, places, rows, chars }
}

/** `null` if it saves no tokens. */
function priced(
  { template, separator, places, rows }: Draft,
  lines: readonly string[],
  counter: TokenCounter,
): LineTable | null {
  const before = counter.count(places.map(at => lines[at]!).join('\n'))
  const after = counter.count([template, ...rows].join('\n'))
  const gain = before - after - (1 + runsOf(places)) * SWITCH_TOKENS
  if (gain <= 0) return null
  return { template, separator, rows: new Map(places.map((at, row) => [at, rows[row]!])), gain }
}

/** Words with the white space before them; the text of the line, if they are concatenated. */
function splitWords(line: string): readonly string[] {
  return line.match(/\s*\S+|\s+$/g) ?? []
}

function hasLinesWith(sign: RegExp, lines: readonly string[], fewest: number): boolean {
  let count = 0
  for (const line of lines) if (sign.test(line) && ++count >= fewest) return true
  return false
}

/** Whether a column is mostly of numbers: no prose, no source code. */
function hasNumbers(rows: readonly (readonly string[])[]): boolean {
  return rows[0]!.some((_, column) => {
    const count = rows.reduce((sum, row) => sum + (DIGIT.test(row[column]!) ? 1 : 0), 0)
    return count >= rows.length * DIGIT_SHARE
  })
}

function separatorOf(rows: readonly (readonly string[])[]): string | undefined {
  if (rows[0]!.length === 1) return ''
  return SEPARATORS.find(sign =>
    rows.every(row => row.every(cell => !cell.includes(sign) && (cell !== '' || sign !== ' '))),
  )
}

/** How many runs of neighbouring lines there are. */
function runsOf(places: readonly number[]): number {
  return places.reduce((runs, at, i) => runs + (places[i - 1] === at - 1 ? 0 : 1), 0)
}
