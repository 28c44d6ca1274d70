import type { TokenCounter } from '../../tokens/counter.ts'
import { decodedTooLong, notDecodable } from '../not-decodable.ts'
import { countOf, countUpTo } from '../work.ts'
import {
  findRuns,
  hasLikeLines,
  type RecordRun,
  recordsOf,
  textOfParts,
} from './records/find-records.ts'
import { lineParts, markupParts, type Part, SLOT } from './records/record-parts.ts'
import {
  filledLength,
  fillTemplate,
  type ReadTemplate,
  readTemplate,
  templateOf,
} from './records/record-template.ts'
import type { TextFormat, WrittenText } from './text-format.ts'

/**
 * Text in which a piece comes again and again with other values: rows of HTML tables, elements of
 * XML, tables of TOML, log lines of keys with values. The piece is written once with the places of
 * its values, and below it the values of each.
 */
export const records: TextFormat = {
  id: 'records',
  version: 1,
  accepts: mayRepeat,
  steps: text => text.length * CHAR_STEPS + countOf(text, '<') * PART_STEPS,
  encode: (text, { counter }) => encode(text, counter),
  decode,
}

const CHAR_STEPS = 60
const PART_STEPS = 1500
/** Fewer tags, or lines with an equals sign, are not looked at. */
const FEWEST_TAGS = 8
const FEWEST_ASSIGNED = 6
const NAMES = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const SEPARATORS = [',', '|', '\t']

function isMarkup(text: string): boolean {
  if (!text.includes('<')) return false
  const opened = countUpTo(text, '</', FEWEST_TAGS)
  return opened + countUpTo(text, '/>', FEWEST_TAGS - opened) >= FEWEST_TAGS
}

function mayRepeat(text: string): boolean {
  if (text.includes(SLOT)) return false
  return isMarkup(text) || countUpTo(text, '=', FEWEST_ASSIGNED) >= FEWEST_ASSIGNED
}

/** A piece that repeats, as it is written. */
interface Written {
  readonly name: string
  readonly template: string
  readonly separator: string
  /** Rows that are not written yet; a run takes the next ones. */
  readonly rows: string[]
  isDeclared: boolean
}

function encode(text: string, counter: TokenCounter): readonly WrittenText[] {
  const hasTags = isMarkup(text)
  if (!hasTags && !hasLikeLines(text)) return []
  const parts = hasTags ? markupParts(text) : lineParts(text)
  const runs = findRuns(parts)
  if (runs.length === 0 || OPENER_LINE.test(text)) return []
  const written = writeFrames(runs, parts, counter)
  if (written.size === 0) return []
  let out = ''
  let at = 0
  for (const run of runs) {
    const piece = written.get(recordsOf(run, parts).frame)
    if (piece === undefined) continue
    let { start, count } = run
    const isWhole = isWholeLines(piece.template)
    out += textOfParts(parts, at, start)
    // Records of whole lines begin with a line: one that does not is left as it is.
    if (isWhole && out !== '' && !out.endsWith('\n')) {
      out += textOfParts(parts, start, start + run.size)
      start += run.size
      count--
      piece.rows.shift()
    }
    at = start + run.size * count
    out += `${isWhole ? '' : '\n'}${blockOf(piece, count)}\n`
  }
  return [{ content: out + textOfParts(parts, at, parts.length), style: '' }]
}

/** The frames that cost less if they are written once, by their text. */
function writeFrames(
  runs: readonly RecordRun[],
  parts: readonly Part[],
  counter: TokenCounter,
): ReadonlyMap<string, Written> {
  const byFrame = new Map<string, { rows: (readonly string[])[]; texts: string[] }>()
  for (const run of runs) {
    const { frame, rows } = recordsOf(run, parts)
    const all = byFrame.get(frame) ?? { rows: [], texts: [] }
    byFrame.set(frame, all)
    for (const row of rows) all.rows.push(row)
    all.texts.push(textOfParts(parts, run.start, run.start + run.size * run.count))
  }
  const written = new Map<string, Written>()
  for (const [frame, { rows, texts }] of byFrame) {
    const name = NAMES[written.size]
    const template = templateOf(frame, rows)
    if (name === undefined || template === null) continue
    const separator = SEPARATORS.find(
      sign => !template.rows.some(row => row.some(c => c.includes(sign))),
    )
    if (separator === undefined) continue
    const lines = template.rows.map(row => row.join(separator))
    const price = counter.count([template.text, ...lines].join('\n')) + texts.length * OPENER_TOKENS
    if (price >= counter.count(texts.join(''))) continue
    written.set(frame, { name, template: template.text, separator, rows: lines, isDeclared: false })
  }
  return written
}

/** Tokens of the line above the rows of a run. */
const OPENER_TOKENS = 10

function isWholeLines(template: string): boolean {
  return template.endsWith('\n')
}

/** The lines of a run: its heading, the template if it is the first run of it, and the rows. */
function blockOf(piece: Written, count: number): string {
  const { name, template, separator, rows } = piece
  const lines: string[] = []
  if (piece.isDeclared) lines.push(`[${count} ${name}]:`)
  else {
    const isWhole = isWholeLines(template)
    const size = countOf(template, '\n') + (isWhole ? 0 : 1)
    const sign = separator === SEPARATORS[0] ? '' : separator
    lines.push(
      `[${count} ${name}, ${size} ${size === 1 ? 'line' : 'lines'}${isWhole ? '' : '+'}${sign}]:`,
    )
    lines.push(isWhole ? template.slice(0, -1) : template)
    piece.isDeclared = true
  }
  // The rows of a template are in the order of its runs.
  for (const item of rows.splice(0, count)) lines.push(item)
  return lines.join('\n')
}

const OPENER = /^\[([1-9]\d{0,6}) ([A-Z])(?:, ([1-9]\d{0,4}) lines?(\+)?([|\t])?)?\]:$/
const OPENER_LINE = new RegExp(OPENER.source, 'm')

/** A template as a heading declares it. */
interface Declared extends ReadTemplate {
  readonly separator: string
  /** Whether its records end within a line. */
  readonly isInLine: boolean
}

function decode(content: string, style: string, maxChars: number): string {
  if (style !== '') throw notDecodable(content, 0, 'no known style of records')
  const templates = new Map<string, Declared>()
  const lines = content.split('\n')
  const out: string[] = []
  let length = 0
  const emit = (text: string, chars: number) => {
    // A line feed before records in a line is taken away again.
    length += chars
    if (length > maxChars + 1) throw decodedTooLong(maxChars)
    out.push(text)
  }
  for (let at = 0; at < lines.length; ) {
    const line = lines[at++]!
    const [opener, count, name = '', size, inLine, sign = ','] = OPENER.exec(line) ?? []
    if (opener === undefined) {
      const end = at === lines.length ? '' : '\n'
      emit(line + end, line.length + end.length)
      continue
    }
    const heading = at - 1
    const lost = () => notDecodable(content, offsetOf(lines, heading), 'records expected')
    if (size !== undefined) {
      const isInLine = inLine !== undefined
      const body = lines.slice(at, at + Number(size)).join('\n')
      at += Number(size)
      const read = readTemplate(isInLine ? body : `${body}\n`)
      templates.set(name, { ...read, separator: sign, isInLine })
    }
    const template = templates.get(name)
    const end = at + Number(count)
    // A line follows the last row, if only an empty one.
    if (template === undefined || end >= lines.length) throw lost()
    if (template.isInLine) {
      if (!dropLineFeed(out)) throw lost()
      length--
    }
    for (; at < end; at++) {
      const cells = lines[at]!.split(template.separator)
      if (cells.length !== template.columns) throw lost()
      const chars = filledLength(template, cells)
      emit(length + chars > maxChars + 1 ? '' : fillTemplate(template, cells), chars)
    }
  }
  const text = out.join('')
  if (text.length > maxChars) throw decodedTooLong(maxChars)
  return text
}

/** Takes the line feed before records in a line away; whether there was one. */
function dropLineFeed(out: string[]): boolean {
  const last = out.at(-1)
  if (last?.endsWith('\n') !== true) return false
  out[out.length - 1] = last.slice(0, -1)
  return true
}

function offsetOf(lines: readonly string[], line: number): number {
  return lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, 0)
}
