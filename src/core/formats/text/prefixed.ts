import { FREE_READING } from '../../reading/price.ts'
import { decodedTooLong, notDecodable } from '../not-decodable.ts'
import {
  choosePrefixGroups,
  isIndented,
  type LineRun,
  type PrefixGroup,
  readLineRuns,
  TIMES,
  TIMES_LINE,
} from './prefix-groups.ts'
import { readsAsSource } from './source-text.ts'
import type { TextFormat, TextTools, WrittenText } from './text-format.ts'

/**
 * Lines with a common prefix are written below a heading with that prefix, as `rg --heading` writes
 * its matches: search results by file, paths by folder, log lines by date and host. A line that is
 * repeated is counted, as `uniq -c` does.
 */
export const prefixed: TextFormat = {
  id: 'prefixed',
  version: 1,
  accepts: text => text.length >= MIN_CHARS,
  encode,
  decode,
}

/** A text of fewer characters has nothing to share. */
const MIN_CHARS = 80
/** The end of a heading, by style: the second if a line of the text ends with the first. */
const MARKS = { dots: '…', star: '*' } as const
type MarkStyle = keyof typeof MARKS
const MARK_STYLES: readonly MarkStyle[] = ['dots', 'star']

/** A style whose text counts blocks of lines too. */
const BLOCKS = '-blocks'

/** Lines that may be quoted stand whole; equal ones are still counted. */
const NO_GROUPS = { groups: [], gain: 0 }

function encode(
  text: string,
  { counter, reading = FREE_READING }: TextTools,
): readonly WrittenText[] {
  const count = (part: string) => counter.count(part)
  const runs = readLineRuns(text)
  const style = MARK_STYLES.find(name => !someLineEndsWith(text, MARKS[name]))
  if (style === undefined) return []
  if (
    text.includes(TIMES) &&
    runs.some(({ line, block }) => block === undefined && TIMES_LINE.test(line))
  )
    return []
  const { groups, gain } = readsAsSource(text)
    ? NO_GROUPS
    : choosePrefixGroups(text, runs, { count, reading })
  // A line that would be read as a count once its prefix is gone.
  if (groups.some(group => hasTimesLine(runs, group))) return []
  const isRepeated = runs.some(({ times, block }) => times > 1 || block !== undefined)
  if (gain <= 0 && !isRepeated) return []
  const out: string[] = []
  let at = 0
  const writeTo = (end: number, cut: number) => {
    for (; at < end; at++) {
      const { line, times } = runs[at]!
      out.push(cut === 0 ? line : line.slice(cut))
      if (times > 1) out.push(TIMES + times)
    }
  }
  for (const { start, end, length } of groups) {
    writeTo(start, 0)
    out.push(runs[at]!.line.slice(0, length) + MARKS[style])
    writeTo(end, length)
    if (at < runs.length) out.push('')
  }
  writeTo(runs.length, 0)
  const hasBlocks = runs.some(({ block }) => block !== undefined)
  const indented = groups.filter(group => isIndented(runs[group.start]!.line)).length
  const uses = {
    ...(groups.length > indented && { heading: groups.length - indented }),
    ...(indented > 0 && { indented_heading: indented }),
    ...(isRepeated && { times: 1 }),
  }
  return [{ content: out.join('\n'), style: hasBlocks ? style + BLOCKS : style, uses }]
}

function someLineEndsWith(text: string, mark: string): boolean {
  return text.endsWith(mark) || text.includes(`${mark}\n`)
}

function hasTimesLine(runs: readonly LineRun[], { start, end, length }: PrefixGroup): boolean {
  for (let at = start; at < end; at++) {
    const { line } = runs[at]!
    if (line.startsWith(TIMES, length) && TIMES_LINE.test(line.slice(length))) return true
  }
  return false
}

function decode(content: string, style: string, maxChars: number): string {
  const countsBlocks = style.endsWith(BLOCKS)
  const name = countsBlocks ? style.slice(0, -BLOCKS.length) : style
  const mark = isMarkStyle(name) ? MARKS[name] : null
  if (mark === null) throw notDecodable(content, 0, 'no known style of headings')
  const out: string[] = []
  const hasTimes = content.includes(TIMES)
  let prefix = ''
  let isFirst = false
  let length = 0
  let at = 0
  const write = (line: string) => {
    length += line.length + 1
    if (length - 1 > maxChars) throw decodedTooLong(maxChars)
    out.push(line)
  }
  const repeat = (lines: readonly string[], times: number) => {
    for (const line of lines) length += (line.length + 1) * times
    if (length - 1 > maxChars) throw decodedTooLong(maxChars)
    for (let i = 0; i < times; i++) for (const line of lines) out.push(line)
  }
  for (const line of content.split('\n')) {
    const times = hasTimes ? TIMES_LINE.exec(line) : null
    if (prefix === '' && line.endsWith(mark)) {
      prefix = line.slice(0, -mark.length)
      isFirst = true
      if (prefix === '') throw notDecodable(content, at, 'a heading without a prefix')
    } else if (times !== null && (countsBlocks || times[2] === undefined)) {
      const counted = out.slice(-Number(times[2] ?? 1))
      if (isFirst || counted.length < Number(times[2] ?? 1))
        throw notDecodable(content, at, 'lines before it expected')
      repeat(counted, Number(times[1]) - 1)
    } else if (prefix !== '' && line === '') {
      if (isFirst) throw notDecodable(content, at, 'a line under the heading expected')
      prefix = ''
    } else {
      isFirst = false
      write(prefix + line)
    }
    at += line.length + 1
  }
  if (isFirst) throw notDecodable(content, at, 'a line under the heading expected')
  return out.join('\n')
}

function isMarkStyle(style: string): style is MarkStyle {
  return Object.hasOwn(MARKS, style)
}
