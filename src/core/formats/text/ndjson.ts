import { OPEN_BRACE } from '../../json/char-codes.ts'
import { parseJson } from '../../json/parse-json.ts'
import type { Value } from '../../json/value.ts'
import { addUses } from '../../reading/price.ts'
import { decodedTooLong, notDecodable } from '../not-decodable.ts'
import { bracketSteps, countOf } from '../work.ts'
import { cheapestJson, innerStyle, readInnerStyle } from './inner-json.ts'
import { findNamedSpacing, writeSpacedJson } from './json-spacing.ts'
import type { TextFormat, TextTools, WrittenText } from './text-format.ts'

/**
 * An object a line, as loggers write: the array of all lines in a value format. The spacing of the
 * lines, and whether the last one ends with a line feed, are the style.
 */
export const ndjson: TextFormat = {
  id: 'ndjson',
  version: 1,
  writesGaps: true,
  accepts: text => text.charCodeAt(0) === OPEN_BRACE && text.includes('}\n{'),
  steps: text => text.length * CHAR_STEPS + countOf(text, '\n') * LINE_STEPS + bracketSteps(text),
  encode,
  decode,
}

/** Steps of a character and of a line. */
const CHAR_STEPS = 30
const LINE_STEPS = 3000
/** Nesting of a line: the array around all takes one level. */
const MAX_LINE_DEPTH = 255
/** In the style, in front of the spacing: the text ends with a line feed. */
const ENDED = 'ended_'

function encode(text: string, tools: TextTools): readonly WrittenText[] {
  const isEnded = text.endsWith('\n')
  const lines = (isEnded ? text.slice(0, -1) : text).split('\n')
  const values: Value[] = []
  let spacing: string | undefined
  for (const line of lines) {
    if (line.charCodeAt(0) !== OPEN_BRACE) return []
    const parsed = parseJson(line, { maxDepth: MAX_LINE_DEPTH })
    if (!parsed.ok) return []
    values.push(parsed.value)
    if (spacing !== undefined && writeSpacedJson(parsed.value, spacing, line.length) === line)
      continue
    // A line whose strings may need escapes decides the kind of escapes. Lines before it fit any
    // kind.
    const found = findNamedSpacing(line, parsed.value)
    if (found === undefined || (spacing !== undefined && !found.startsWith(spacing))) return []
    spacing = found
  }
  if (spacing === undefined) return []
  const inner = cheapestJson(tools.marked ?? values, tools, text.length, () => true)
  if (inner === null) return []
  const style = innerStyle((isEnded ? ENDED : '') + spacing, [inner.format])
  return [{ content: inner.content, style, uses: addUses({ json_lines: 1 }, inner.uses) }]
}

function decode(content: string, style: string, maxChars: number): string {
  const read = readInnerStyle(style)
  const format = read?.formats.values().next().value
  if (read === undefined || format === undefined) {
    throw notDecodable(content, 0, 'no known style of lines')
  }
  const isEnded = read.spacing.startsWith(ENDED)
  const spacing = isEnded ? read.spacing.slice(ENDED.length) : read.spacing
  const values = format.decode(content)
  if (!Array.isArray(values)) throw notDecodable(content, 0, 'a list of lines expected')
  let out = ''
  for (const [index, value] of values.entries()) {
    if (index > 0) out += '\n'
    const line = writeSpacedJson(value, spacing, maxChars - out.length)
    if (line === undefined) throw decodedTooLong(maxChars)
    out += line
  }
  return isEnded ? `${out}\n` : out
}
