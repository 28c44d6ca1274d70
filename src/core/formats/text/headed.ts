import { parseJson } from '../../json/parse-json.ts'
import { decodedTooLong, notDecodable } from '../not-decodable.ts'
import { bracketSteps, countLines } from '../work.ts'
import { cheapestJson, innerStyle, readInnerStyle } from './inner-json.ts'
import { findSpacing, writeSpacedJson } from './json-spacing.ts'
import type { TextFormat, TextTools, WrittenText } from './text-format.ts'

/**
 * JSON after a short head that ends within the JSON's first line, and perhaps before a short tail,
 * as hosts write around the output of a command: `Exit code: 0, Output: {…}`. Head and tail are
 * unchanged, on lines of their own.
 */
export const headed: TextFormat = {
  id: 'headed',
  version: 1,
  accepts: text => endOfJson(text) !== -1 && startsOfJson(text).length > 0,
  steps: text => text.length * CHAR_STEPS + bracketSteps(text),
  encode,
  decode,
}

/** Most characters of the head and of the tail. */
const MAX_HEAD_CHARS = 600
const MAX_TAIL_CHARS = 200
/** A shorter value saves less than it costs to take it apart. */
const MIN_JSON_CHARS = 60
/** Places at which JSON may start that are tried, the first ones of the text. */
const MAX_STARTS = 4
const MAX_DEPTH = 250
/** Steps of a character, for each place that is tried. */
const CHAR_STEPS = 30
/** The lines of the head and of the tail, then the spacing of the JSON. */
const STYLE = /^([1-9]\d{0,2})_(\d{1,3})_(\w[\w-]*),/
/** A bracket that may open the JSON, by what is after it. */
const OPENER = /[[{](?=[\s"[{\]}\dtfn-])/g

/** Places of brackets that may open the JSON. */
function startsOfJson(text: string): readonly number[] {
  const starts: number[] = []
  const limit = Math.min(MAX_HEAD_CHARS + 1, text.length - MIN_JSON_CHARS)
  if (limit <= 1) return starts
  // With the character after the last place.
  const head = text.slice(0, limit + 1)
  OPENER.lastIndex = 1
  for (let found = OPENER.exec(head); found !== null; found = OPENER.exec(head)) {
    if (starts.push(found.index) === MAX_STARTS) break
  }
  return starts
}

/** The end of the last bracket that may close the JSON; -1 if there is none near the end. */
function endOfJson(text: string): number {
  const first = Math.max(0, text.length - MAX_TAIL_CHARS - 1)
  const tail = text.slice(first)
  const last = Math.max(tail.lastIndexOf('}'), tail.lastIndexOf(']'))
  return last === -1 ? -1 : first + last + 1
}

function encode(text: string, tools: TextTools): readonly WrittenText[] {
  const end = endOfJson(text)
  if (end === -1) return []
  for (const start of startsOfJson(text)) {
    const source = text.slice(start, end)
    const parsed = parseJson(source, { maxDepth: MAX_DEPTH })
    if (!parsed.ok) continue
    const spacing = findSpacing(source, parsed.value)
    if (spacing === undefined) return []
    const inner = cheapestJson(parsed.value, tools, source.length, () => true)
    if (inner === null) return []
    const head = text.slice(0, start)
    const tail = text.slice(end)
    const parts = [head, inner.content, ...(tail === '' ? [] : [tail])]
    const lines = `${countLines(head)}_${tail === '' ? 0 : countLines(tail)}`
    return [{ content: parts.join('\n'), style: innerStyle(`${lines}_${spacing}`, [inner.format]) }]
  }
  return []
}

function decode(content: string, style: string, maxChars: number): string {
  const [, head, tail, spacing] = STYLE.exec(style) ?? []
  const format = readInnerStyle(style)?.formats.values().next().value
  if (spacing === undefined || format === undefined) {
    throw notDecodable(content, 0, 'no known style of a head')
  }
  const lines = content.split('\n')
  const last = lines.length - Number(tail)
  if (last <= Number(head)) throw notDecodable(content, 0, 'JSON below a head expected')
  const before = lines.slice(0, Number(head)).join('\n')
  const after = lines.slice(last).join('\n')
  const value = format.decode(lines.slice(Number(head), last).join('\n'))
  const room = maxChars - before.length - after.length
  const json = room < 0 ? undefined : writeSpacedJson(value, spacing, room)
  if (json === undefined) throw decodedTooLong(maxChars)
  return before + json + after
}
