import { FREE_READING, type Reading, readingPrice } from '../../reading/price.ts'
import type { TokenCounter } from '../../tokens/counter.ts'
import { decodedTooLong, notDecodable } from '../not-decodable.ts'
import { countLines } from '../work.ts'
import { readsAsSource } from './source-text.ts'
import { findTables, type LineTable } from './templated/find-templates.ts'
import {
  filledLength,
  fillTemplate,
  type ReadTemplate,
  readTemplate,
  SLOT,
} from './templated/line-template.ts'
import type { TextFormat, WrittenText } from './text-format.ts'

/**
 * Lines that a few statements of a program wrote, in any order: logs of all kinds. Each template is
 * declared once, with the places of its values. Below it stand the values of each line, under the
 * name of their template.
 */
export const templated: TextFormat = {
  id: 'templated',
  version: 1,
  accepts: text =>
    text.length >= MIN_CHARS &&
    !text.includes(SLOT) &&
    hasNumberedLines(text) &&
    !readsAsSource(text),
  steps: text => text.length * CHAR_STEPS,
  encode: (text, { counter, reading = FREE_READING }) => encode(text, counter, reading),
  decode,
}

const CHAR_STEPS = 40
const MIN_CHARS = 200
/** Share of the lines that have a digit; source code and prose have fewer. */
const MIN_NUMBERED = 0.3
const FEWEST_NUMBERED = 3
const NAMES = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz']
/** The template of all other lines. */
const WHOLE_LINE = '{1}'

/** A digit, and the rest of its line. */
const NUMBERED_LINE = /\d[^\n]*/g

/** Whether enough lines have a digit. What programs write about their work has times or counts. */
function hasNumberedLines(text: string): boolean {
  const least = Math.max(FEWEST_NUMBERED, countLines(text) * MIN_NUMBERED)
  NUMBERED_LINE.lastIndex = 0
  for (let numbered = 0; numbered < least; numbered++) {
    if (!NUMBERED_LINE.test(text)) return false
  }
  return true
}

function encode(text: string, counter: TokenCounter, reading: Reading): readonly WrittenText[] {
  // A text that saves less than one template costs is not looked at.
  const least = readingPrice(reading, { template: 1 }, 0)
  if (least === Infinity) return []
  const found = findTables(text, counter, least)
  const best = [...found].sort((a, b) => b.gain - a.gain).slice(0, NAMES.length - 1)
  const gain = best.reduce((sum, table) => sum + table.gain, 0)
  if (gain <= least) return []
  const lines = text.split('\n')
  const tableAt: (LineTable | undefined)[] = new Array(lines.length).fill(undefined)
  for (const table of best) for (const at of table.rows.keys()) tableAt[at] = table
  const rows = lines.map((line, at) => tableAt[at]?.rows.get(at) ?? line)
  const names = namesFor(rows)
  const declared = new Map<LineTable | undefined, string>()
  const head: string[] = []
  const body: string[] = []
  let current: string | undefined
  let switches = 0
  for (const [at, row] of rows.entries()) {
    // A blank line is one, whatever the template.
    if (row === '') {
      body.push('')
      continue
    }
    const table = tableAt[at]
    let name = declared.get(table)
    if (name === undefined) {
      name = names[declared.size]
      if (name === undefined) return []
      declared.set(table, name)
      head.push(`${name}${signOf(table)}: ${table?.template ?? WHOLE_LINE}`)
    }
    if (name !== current) {
      body.push(name)
      switches++
    }
    current = name
    body.push(row)
  }
  const uses = { template: declared.size, template_switch: switches }
  return [{ content: [...head, '', ...body].join('\n'), style: '', uses }]
}

/** Names that no row is. */
function namesFor(rows: readonly string[]): readonly string[] {
  const taken = new Set(rows.filter(row => row.length === 1))
  return NAMES.filter(name => !taken.has(name))
}

/** How a declaration says what is between cells: nothing for a space. */
function signOf(table: LineTable | undefined): string {
  const separator = table?.separator ?? ''
  return separator === ' ' ? '' : separator
}

const DECLARATION = /^([A-Za-z])([,|\t]?): (.*)$/s

interface Declared extends ReadTemplate {
  readonly separator: string
}

function decode(content: string, style: string, maxChars: number): string {
  if (style !== '') throw notDecodable(content, 0, 'no known style of templates')
  const templates = new Map<string, Declared>()
  const lines = content.split('\n')
  let start = 0
  let at = 0
  for (; at < lines.length && lines[at] !== ''; at++) {
    const [, name, sign = '', text = ''] = DECLARATION.exec(lines[at]!) ?? []
    const read = readTemplate(text)
    if (name === undefined || templates.has(name) || read.places.length === 0)
      throw notDecodable(content, start, 'a template expected')
    templates.set(name, { ...read, separator: sign === '' ? ' ' : sign })
    start += lines[at]!.length + 1
  }
  if (at === lines.length) throw notDecodable(content, start, 'a blank line expected')
  start++
  const out: string[] = []
  let length = -1
  let template: Declared | undefined
  for (const line of lines.slice(at + 1)) {
    const next = templates.get(line)
    if (next !== undefined) template = next
    else {
      // A blank line is one, whatever the template.
      const cells = line === '' ? null : cellsOf(line, template)
      if (cells === undefined)
        throw notDecodable(content, start, 'the values of a template expected')
      length += 1 + (cells === null ? 0 : filledLength(template!, cells))
      if (length > maxChars) throw decodedTooLong(maxChars)
      out.push(cells === null ? '' : fillTemplate(template!, cells))
    }
    start += line.length + 1
  }
  return out.join('\n')
}

/** The cells of a row; `undefined` if they are not those of the template. */
function cellsOf(row: string, template: Declared | undefined): readonly string[] | undefined {
  if (template === undefined) return undefined
  const cells = template.columns === 1 ? [row] : row.split(template.separator)
  return cells.length === template.columns ? cells : undefined
}
