import {
  COLON,
  DIGIT_0,
  DIGIT_9,
  LINE_FEED,
  MINUS,
  PIPE,
  PLUS,
  RIGHT_ARROW,
  SPACE,
  TAB,
} from '../../json/char-codes.ts'
import type { TokenCounter } from '../../tokens/counter.ts'
import { decodedTooLong, notDecodable } from '../not-decodable.ts'
import { columnsWord, readColumnsWord } from './column-layout.ts'
import { OPENER, readColumnTable, type Separator, writeColumnTable } from './column-table.ts'
import { findColumns } from './find-columns.ts'
import type { TextFormat, WrittenText } from './text-format.ts'

/**
 * Text with columns that are aligned by spaces, as `ps`, `df`, `ls -l` and `kubectl get` print
 * them. Each such table becomes a heading with what its rows share, and rows without the padding.
 * The layout of the table is the style, so that decoding gives the same text.
 */
export const columns: TextFormat = {
  id: 'columns',
  version: 1,
  accepts: hasAlignedLines,
  steps: text => text.length * CHAR_STEPS,
  encode: (text, { counter }) => encode(text, counter),
  decode,
}

const CHAR_STEPS = 40
const WORD_SEPARATOR = ','
/** Longest style: a format is at most 128 characters. Tables beyond it stay as they are. */
const MAX_STYLE_CHARS = 100
/** Fewer lines with a gap inside are no table. */
const MIN_LINES = 3
/** Characters of a text for each line with a gap: with more, there is too little to save. */
const MAX_CHARS_PER_GAP = 1_000
/** Share of the lines of a table that have a gap of two spaces. */
const MIN_GAPPED = 0.4
/** Lines above a table that are no part of it: `total 12` of `ls`, the legend of `dpkg`. */
const MAX_LINES_ABOVE = 6

/** Whether enough lines have two spaces or more between words. */
function hasAlignedLines(text: string): boolean {
  let found = 0
  for (let at = text.indexOf('  '); at !== -1; ) {
    const end = spacesEnd(text, at)
    const isInside = isGap(text, at, end)
    if (isInside && ++found >= MIN_LINES && found * MAX_CHARS_PER_GAP >= text.length) return true
    const next = isInside ? text.indexOf('\n', end) : end
    at = next === -1 ? -1 : text.indexOf('  ', next)
  }
  return false
}

/** Whether the spaces `[start, end)` stand between words, and not after a line's number or sign. */
function isGap(text: string, start: number, end: number): boolean {
  const before = text.charCodeAt(start - 1)
  if (start === 0 || before === LINE_FEED || end >= text.length) return false
  const after = text.charCodeAt(end)
  // Padding of a Markdown table belongs to another format.
  if (after === LINE_FEED || after === PIPE) return false
  if (before === RIGHT_ARROW || before === TAB || before === PIPE) return false
  if (before !== COLON && before !== MINUS && before !== PLUS) return true
  const first = text.charCodeAt(start - 2)
  return start > 1 && first !== LINE_FEED && !(first >= DIGIT_0 && first <= DIGIT_9)
}

/** Neighbouring lines of a text that may be a table; `end` is without their last line feed. */
interface LineRun {
  readonly start: number
  readonly end: number
}

/** The runs of lines without a blank one of which so many have a gap that they may be a table. */
function findRuns(text: string): readonly LineRun[] {
  const runs: LineRun[] = []
  let lines = 0
  let gapped = 0
  let from = 0
  /** The first two spaces that the line may have. */
  let spaces = -1
  const close = (end: number) => {
    const mayBeTable = lines >= MIN_LINES && gapped >= lines * MIN_GAPPED
    if (mayBeTable) runs.push({ start: from, end })
    lines = 0
    gapped = 0
  }
  for (let start = 0, end = 0; start <= text.length; start = end + 1) {
    end = text.indexOf('\n', start)
    if (end === -1) end = text.length
    if (isBlank(text, start, end)) {
      close(start - 1)
      continue
    }
    if (lines++ === 0) from = start
    let first = start
    while (text.charCodeAt(first) === SPACE) first++
    if (spaces < first) spaces = placeOfSpaces(text, first)
    if (spaces < end && isGap(text, spaces, spacesEnd(text, spaces))) gapped++
  }
  close(text.length)
  return runs
}

/** The first two spaces at `start` or later; the text's length if there are none. */
function placeOfSpaces(text: string, start: number): number {
  const at = text.indexOf('  ', start)
  return at === -1 ? text.length : at
}

function spacesEnd(text: string, start: number): number {
  let end = start
  while (text.charCodeAt(end) === SPACE) end++
  return end
}

function encode(text: string, counter: TokenCounter): readonly WrittenText[] {
  const out: string[] = []
  const words: string[] = []
  let joined = 0
  let uniform = true
  /** Start of what is not written yet. */
  let from = 0
  for (const { start, end } of findRuns(text)) {
    const run = text.slice(start, end).split('\n')
    const above = linesAbove(run)
    const table = run.length - above < MIN_LINES ? null : tableOf(run.slice(above), counter)
    if (table === null) continue
    const isUniform: boolean = uniform && table.word === (words[0] ?? table.word)
    const length = joined + table.word.length + 1
    if (!isUniform && length > MAX_STYLE_CHARS) continue
    words.push(table.word)
    joined = length
    uniform = isUniform
    out.push(text.slice(from, start), [...run.slice(0, above), ...table.lines].join('\n'))
    from = end
  }
  if (words.length === 0 || text.split('\n').some(line => OPENER.test(line))) return []
  const style = uniform ? words[0]! : words.join(WORD_SEPARATOR)
  if (style.length > MAX_STYLE_CHARS) return []
  return [{ content: out.join('') + text.slice(from), style }]
}

/** Most lines begin with a letter or sign, so that hardly any is copied. */
function isBlank(text: string, start: number, end: number): boolean {
  const c = start === end ? SPACE : text.charCodeAt(start)
  return !(c > SPACE && c < 0x7f) && text.slice(start, end).trim() === ''
}

/** How many of the first lines have far fewer words than most have. */
function linesAbove(lines: readonly string[]): number {
  const words = lines.slice(0, MAX_LINES_ABOVE * 4).map(line => line.trim().split(/ +/).length)
  const middle = words.toSorted((a, b) => a - b)[words.length >> 1]!
  let above = 0
  while (above < MAX_LINES_ABOVE && words[above]! * 2 <= middle) above++
  return above
}

const SEPARATORS: readonly Separator[] = [' ', '|', ',']

/** The lines as a table with the first separator that fits; `null` if that costs no less. */
function tableOf(
  lines: readonly string[],
  counter: TokenCounter,
): { word: string; lines: readonly string[] } | null {
  const found = findColumns(lines)
  if (found === null) return null
  for (const separator of SEPARATORS) {
    const written = writeColumnTable(lines, found, separator, counter)
    if (written === null) continue
    const before = counter.count(lines.join('\n'))
    const isCheaper = counter.countUpTo(written.join('\n'), before) < before
    return isCheaper ? { word: columnsWord(found.layout), lines: written } : null
  }
  return null
}

function decode(content: string, style: string, maxChars: number): string {
  const layouts = style.split(WORD_SEPARATOR).map(readColumnsWord)
  const lines = content.split('\n')
  const out: string[] = []
  let tables = 0
  let length = 0
  let offset = 0
  for (let at = 0; at < lines.length; at++) {
    const [, count, separator] = OPENER.exec(lines[at]!) ?? []
    let added: readonly string[] = [lines[at]!]
    if (count !== undefined) {
      const layout = layouts[layouts.length === 1 ? 0 : tables]
      const end = at + 1 + Number(count)
      if (layout === undefined || end >= lines.length) {
        throw notDecodable(content, offset, 'a table expected')
      }
      const [header, ...rows] = lines.slice(at + 1, end + 1)
      const room = maxChars - length
      const table = readColumnTable(header!, rows, separator as Separator, layout, room)
      if (table === null) throw notDecodable(content, offset, 'rows of a table expected')
      added = table
      tables++
      for (; at < end; at++) offset += lines[at]!.length + 1
    }
    for (const line of added) {
      out.push(line)
      length += line.length + 1
    }
    if (length - 1 > maxChars) throw decodedTooLong(maxChars)
    offset += lines[at]!.length + 1
  }
  return out.join('\n')
}
