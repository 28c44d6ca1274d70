import { DIGIT, IN_WORD, LINE_FEED, MINUS, PIPE, SPACE, wordKind } from '../../json/char-codes.ts'
import { priceOfUse, type Reading } from '../../reading/price.ts'
import { cutsClock, cutsNumber } from '../word-cuts.ts'
import { createBlockFinder, type RepeatedBlock } from './line-blocks.ts'

/**
 * Neighbouring lines `[start, end)` that all begin with the first `length` characters of the first
 * of them.
 */
export interface PrefixGroup {
  readonly start: number
  readonly end: number
  readonly length: number
}

/** Fewest tokens of a prefix that justify a heading. */
const MIN_PREFIX_TOKENS = 3
/**
 * Tokens of a heading beyond those of its prefix: its mark, its line feed, the blank line after the
 * group.
 */
const HEADING_TOKENS = 3

/**
 * A run of lines with a common prefix. It becomes a group itself, or is divided into the groups
 * inside it, whichever saves more.
 */
interface Run {
  readonly gain: number
  readonly group: PrefixGroup | null
  readonly inside: readonly Run[]
}

/** A run whose last line is not known yet. */
interface OpenRun {
  readonly start: number
  readonly length: number
  gain: number
  readonly inside: Run[]
}

/** What decides on headings. */
export interface HeadingPrices {
  count(text: string): number
  readonly reading: Reading
}

/** Whether a line, or a heading, begins with white space, as in source code and settings. */
export function isIndented(line: string): boolean {
  return line.startsWith(' ') || line.startsWith('\t')
}

/**
 * Groups that do not overlap, in order, chosen so that the tokens they save are most among all
 * nested choices: for every longest run of lines with one common prefix, one heading for the run,
 * or the best of its parts. The runs are the nodes of the Cartesian tree over the common prefixes
 * of neighbours, so the work is linear.
 * @param lines of the text
 * @param prices.count tokens of a prefix; asked at most once for each pair of neighbours
 * @param prices.reading what headings cost a reader
 */
export function choosePrefixGroups(
  text: string,
  lines: readonly LineRun[],
  prices: HeadingPrices,
): { groups: readonly PrefixGroup[]; gain: number } {
  const open: OpenRun[] = []
  const roots: Run[] = []
  for (let at = 0; at < lines.length; at++) {
    const length = at + 1 < lines.length ? commonPrefix(text, lines[at]!, lines[at + 1]!) : 0
    let start = at
    let closed: Run | null = null
    for (let top = open.at(-1); top !== undefined && top.length > length; top = open.at(-1)) {
      open.pop()
      start = top.start
      closed = close(top, at + 1, lines[start]!.line, prices)
      const outer = open.at(-1)
      if (outer === undefined || outer.length < length) break
      outer.gain += closed.gain
      outer.inside.push(closed)
      closed = null
    }
    const isNested = length > (open.at(-1)?.length ?? 0)
    if (isNested) {
      const inside = closed === null ? [] : [closed]
      open.push({ start, length, gain: closed?.gain ?? 0, inside })
    } else if (closed !== null) roots.push(closed)
  }
  return { groups: collect(roots), gain: roots.reduce((sum, run) => sum + run.gain, 0) }
}

function close(run: OpenRun, end: number, firstLine: string, prices: HeadingPrices): Run {
  const { start, length, gain, inside } = run
  const own = savingOf(firstLine.slice(0, length), end - start, prices)
  return own > gain
    ? { gain: own, group: { start, end, length }, inside: [] }
    : { gain, group: null, inside }
}

function savingOf(prefix: string, lines: number, { count, reading }: HeadingPrices): number {
  if (!/[\p{L}\p{N}]/u.test(prefix)) return 0
  const tokens = count(prefix)
  if (tokens < MIN_PREFIX_TOKENS) return 0
  const toRead = priceOfUse(reading, isIndented(prefix) ? 'indented_heading' : 'heading')
  return Math.max(0, tokens * (lines - 1) - HEADING_TOKENS - toRead)
}

function collect(roots: readonly Run[]): readonly PrefixGroup[] {
  const groups: PrefixGroup[] = []
  const waiting = roots.toReversed()
  for (let run = waiting.pop(); run !== undefined; run = waiting.pop()) {
    if (run.group !== null) groups.push(run.group)
    else for (let i = run.inside.length - 1; i >= 0; i--) waiting.push(run.inside[i]!)
  }
  return groups
}

/**
 * Characters at the start that both lines share, up to a place at which a reader would cut; less
 * than either line. 0 if they are too few for a heading, so that these make no run.
 */
function commonPrefix(text: string, first: LineRun, second: LineRun): number {
  if (first.isFixed || second.isFixed) return 0
  const a = first.start
  const b = second.start
  const limit = Math.min(first.line.length, second.line.length) - 1
  let same = 0
  while (same < limit && text.charCodeAt(a + same) === text.charCodeAt(b + same)) same++
  if (same < MIN_PREFIX_CHARS) return 0
  // A file's name ends before `:12:` in one line and before `-13-` in the next.
  const isEnd = (at: number) => !isInWord(text.charCodeAt(at)) && !cutsValue(text, at)
  if (isEnd(a + same) && isEnd(b + same)) return same
  while (same >= MIN_PREFIX_CHARS && !(isCut(text, a + same) && isCut(text, b + same))) same--
  return same < MIN_PREFIX_CHARS ? 0 : same
}

/**
 * Whether a reader would cut before `at`: after a separator, or after a dash that is before a
 * digit, but in no number or date.
 */
function isCut(text: string, at: number): boolean {
  if (cutsValue(text, at)) return false
  const before = text.charCodeAt(at - 1)
  if (wordKind(before) === 0) return true
  const isDash = before === MINUS && wordKind(text.charCodeAt(at)) === DIGIT
  return isDash && wordKind(text.charCodeAt(at - 2)) !== DIGIT
}

/** Whether the rest of a line would begin within a number or a time. */
function cutsValue(text: string, at: number): boolean {
  return cutsNumber(text, at) || cutsClock(text, at)
}

function isInWord(c: number): boolean {
  return (wordKind(c) & IN_WORD) !== 0
}

/** A line and how many times it stands there in a row. */
export interface LineRun {
  /** The line; or several neighbours that share nothing, with the line feeds between them. */
  readonly line: string
  /** Where it stands in the text, for the first time. */
  readonly start: number
  readonly times: number
  /**
   * Whether a reader needs the line's start in its place. That is true for a line of a diff's hunk,
   * which is read and applied by its first character, for a row of a Markdown table, for a short
   * line, and for several lines in one.
   */
  readonly isFixed: boolean
  /** Present if the line is none of the text, but counts the lines before it. */
  readonly block?: RepeatedBlock
}

/**
 * Shorter lines are counted from `MIN_SHORT_TIMES` on, since a reader takes in a few of them at a
 * glance. Blank lines never are: a reader sees them as space.
 */
const MIN_REPEATED_CHARS = 8
const MIN_SHORT_TIMES = 8
/** Fewest characters of a prefix: to a reader, a shorter one does not justify a heading. */
const MIN_PREFIX_CHARS = 6
/** A line by itself that its start distinguishes from others: see `prefixed.ts`. */
export const TIMES = '×'
/** A line of that kind. */
export const TIMES_LINE = /^×([1-9]\d{0,8})(?: \(([2-8]) lines\))?$/

function blockMark({ lines, times }: RepeatedBlock): string {
  return `${TIMES}${times} (${lines} lines)`
}

/**
 * The lines of a text with equal neighbours counted. Lines that can neither share a prefix nor be
 * counted come together with their neighbours of that kind, so that a text of short lines does not
 * take an object for each.
 */
export function readLineRuns(text: string): readonly LineRun[] {
  const runs: LineRun[] = []
  const hunks = createHunkTracker(text)
  const blocks = hunks === NO_HUNKS ? createBlockFinder(text) : null
  /** Start of the lines that go together; -1 if there are none. */
  let together = -1
  let last = ''
  let lastStart = 0
  let times = 0
  const push = (start: number, end: number, times: number) => {
    runs.push({ line: text.slice(start, end), start, times, isFixed: true })
  }
  const flush = (end: number) => {
    if (times > 0) runs.push({ line: last, start: lastStart, times, isFixed: false })
    times = 0
    if (together !== -1) push(together, end, 1)
    together = -1
  }
  for (let start = 0, end = 0; start <= text.length; start = end + 1) {
    end = text.indexOf('\n', start)
    if (end === -1) end = text.length
    const block = blocks?.pass(start, end) ?? null
    if (block !== null) {
      flush(start - 1)
      runs.push({ line: blockMark(block), start, times: 1, isFixed: true, block })
      end = block.end - 1
      continue
    }
    const isFixed = hunks.has(start, end) || (start < end && text.charCodeAt(start) === PIPE)
    // No short line begins a hunk, so those that are skipped change nothing for the lines after.
    const short = isFixed || end - start >= MIN_REPEATED_CHARS ? 1 : timesOfShort(text, start, end)
    if (short >= MIN_SHORT_TIMES) {
      flush(start - 1)
      push(start, end, short)
      end += (short - 1) * (end - start + 1)
      blocks?.forget()
      continue
    }
    if (isFixed || end - start <= MIN_PREFIX_CHARS) {
      const isAlone = text.startsWith(TIMES, start)
      if (times > 0 || isAlone) flush(start - 1)
      if (isAlone) {
        push(start, end, 1)
        continue
      }
      if (together === -1) together = start
    } else {
      const length = end - start
      const repeats =
        times > 0 &&
        length === last.length &&
        length >= MIN_REPEATED_CHARS &&
        text.startsWith(last, start) &&
        last.trim() !== ''
      if (repeats) times++
      else {
        flush(start - 1)
        last = text.slice(start, end)
        lastStart = start
        times = 1
      }
    }
  }
  flush(text.length)
  return runs
}

/**
 * How many times in a row a short line stands there, from its first time on; 1 if it is blank, or
 * if they are too few to be counted.
 */
function timesOfShort(text: string, start: number, end: number): number {
  const step = end - start + 1
  const isRepeated = (times: number) => isSameLine(text, start, start + times * step, step - 1)
  if (isBlank(text, start, end) || !isRepeated(MIN_SHORT_TIMES - 1)) return 1
  let times = 1
  while (isRepeated(times)) times++
  return times < MIN_SHORT_TIMES ? 1 : times
}

function isBlank(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (text.charCodeAt(at) > SPACE) return false
  return true
}

/** Whether the characters from `other` on are a line as long as the one at `start`, and equal. */
function isSameLine(text: string, start: number, other: number, length: number): boolean {
  const end = other + length
  if (end > text.length || (end < text.length && text.charCodeAt(end) !== LINE_FEED)) return false
  for (let at = 0; at < length; at++) {
    if (text.charCodeAt(start + at) !== text.charCodeAt(other + at)) return false
  }
  return true
}

const HUNK_START = '@@ -'

/** Reports of the line `[start, end)` whether it belongs to a hunk; asked of one after another. */
export interface HunkTracker {
  has(start: number, end: number): boolean
}

/** The tracker for texts without hunks. */
export const NO_HUNKS: HunkTracker = { has: () => false }

/**
 * Reports line by line whether it belongs to a hunk, by the counts in the hunk's `@@ -1,2 +3,4 @@`.
 */
export function createHunkTracker(text: string): HunkTracker {
  if (!text.includes(HUNK_START)) return NO_HUNKS
  let removed = 0
  let added = 0
  return {
    has(start, end) {
      if (removed > 0 || added > 0) {
        const mark = start < end ? text.charAt(start) : ''
        if (mark !== '+' && mark !== '\\') removed--
        if (mark !== '-' && mark !== '\\') added--
        return true
      }
      if (!text.startsWith(HUNK_START, start)) return false
      const line = text.slice(start, end)
      const counts = /^@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@/.exec(line)
      if (counts === null) return false
      removed = Number(counts[1] ?? 1)
      added = Number(counts[2] ?? 1)
      return true
    },
  }
}
