import { ObjectValue, type Value } from '../../json/value.ts'
import { decodedTooLong, notDecodable } from '../not-decodable.ts'
import { countOf } from '../work.ts'
import { labelOf, readBlocks, writeBlocks } from './block-records.ts'
import { cheapestJson, innerStyle, readInnerStyle } from './inner-json.ts'
import type { TextFormat, TextTools, WrittenText } from './text-format.ts'

/**
 * Records over several lines that begin alike, each with labelled values and some with a text below
 * them: `git log`, package descriptions, `/proc/cpuinfo`. They are the objects of an array in a
 * value format. The style has the blank lines between and inside them, and the indentation.
 */
export const blocks: TextFormat = {
  id: 'blocks',
  version: 1,
  accepts: beginsAgain,
  steps: text => text.length * CHAR_STEPS + countOf(text, '\n') * LINE_STEPS,
  encode,
  decode,
}

/** Steps of a character and of a line. */
const CHAR_STEPS = 30
const LINE_STEPS = 3000

/** Whether a later line begins with the label of the first one. */
function beginsAgain(text: string): boolean {
  const end = text.indexOf('\n')
  if (end === -1) return false
  const label = labelOf(text.slice(0, end), true)
  return label !== null && text.includes(`\n${label}`, end)
}

function encode(text: string, tools: TextTools): readonly WrittenText[] {
  const read = readBlocks(text)
  if (read === null) return []
  // Labels may be read in more than one way, and what they leave out must be the same everywhere.
  if (writeBlocks(read.records, read.layout, text.length) !== text) return []
  const inner = cheapestJson(read.records, tools, text.length, () => true)
  if (inner === null) return []
  const { gap, before, indent, end } = read.layout
  const style = innerStyle([gap, before, indent, end].join('-'), [inner.format])
  return [{ content: inner.content, style }]
}

const LAYOUT = /^(\d{1,2})-(\d{1,2})-(\d{1,2})-(\d{1,2})$/

function decode(content: string, style: string, maxChars: number): string {
  const read = readInnerStyle(style)
  const format = read?.formats.values().next().value
  const [, ...numbers] = LAYOUT.exec(read?.spacing ?? '') ?? []
  if (format === undefined || numbers.length === 0) {
    throw notDecodable(content, 0, 'no known style of blocks')
  }
  const [gap = 0, before = 0, indent = 0, end = 0] = numbers.map(Number)
  const values = format.decode(content)
  if (!Array.isArray(values) || !values.every(isRecord)) {
    throw notDecodable(content, 0, 'a list of records expected')
  }
  const text = writeBlocks(values, { gap, before, indent, end }, maxChars)
  if (text === null) throw decodedTooLong(maxChars)
  return text
}

function isRecord(value: Value): value is ObjectValue {
  return value instanceof ObjectValue && value.values.every(each => typeof each === 'string')
}
