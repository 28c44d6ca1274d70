import { parseJson } from '../../json/parse-json.ts'
import { equalValues, ObjectValue, type Value } from '../../json/value.ts'
import { decodedTooLong, notDecodable } from '../not-decodable.ts'
import { cheapestJson, innerStyle, readInnerStyle } from './inner-json.ts'
import { findNamedSpacing, writeSpacedJson } from './json-spacing.ts'
import type { TextFormat, TextTools, WrittenText } from './text-format.ts'

/**
 * An MCP tool result with the same content twice, as the protocol demands: as `structuredContent`,
 * and as JSON in a text for older clients. The text is left out; its spacing is the style. Some
 * servers wrap a value that is no object as `{"result": …}`, and the text then holds that value.
 */
export const mcp: TextFormat = {
  id: 'mcp',
  version: 1,
  json: true,
  accepts: (_, { shape }) => shape === 'nested_object',
  encode,
  decode,
}

/** In the style, in front of the spacing: the text is the member `result`. */
const WRAPPED = 'result_'
/** Instead of a spacing: the text is that string itself. */
const PLAIN = 'plain'
/** The whole result and its content around the structured one. */
const MAX_DEPTH = 250

function encode(text: string, tools: TextTools): readonly WrittenText[] {
  if (!text.includes('"structuredContent"')) return []
  const parsed = parseJson(text)
  const result = parsed.ok ? readResult(parsed.value) : undefined
  if (result === undefined) return []
  const { content, structured } = result
  const index = content.findIndex(hasText)
  const item = content[index]
  if (!(item instanceof ObjectValue) || content.some(lacksText)) return []
  const word = repeatedAs(item.values[1] as string, structured)
  if (word === undefined) return []
  const short = new ObjectValue(
    item.keys.filter((_, at) => at !== 1),
    item.values.filter((_, at) => at !== 1),
  )
  const inner = cheapestJson(
    result.with(content.with(index, short)),
    tools,
    text.length,
    () => true,
  )
  if (inner === null) return []
  const { content: written, format, uses } = inner
  return [{ content: written, style: innerStyle(word, [format]), ...(uses && { uses }) }]
}

function decode(content: string, style: string, maxChars: number): string {
  const read = readInnerStyle(style)
  const format = read?.formats.values().next().value
  if (read === undefined || format === undefined) {
    throw notDecodable(content, 0, 'no known style of results')
  }
  const result = readResult(format.decode(content))
  const index = result?.content.findIndex(lacksText) ?? -1
  const item = result?.content[index]
  if (result === undefined || !(item instanceof ObjectValue)) {
    throw notDecodable(content, 0, 'a result with a text left out expected')
  }
  const text = repeat(result.structured, read.spacing, maxChars)
  if (text === undefined) throw notDecodable(content, 0, 'no text for this style')
  const keys = item.keys.toSpliced(1, 0, 'text')
  const whole = new ObjectValue(keys, item.values.toSpliced(1, 0, text))
  const json = writeSpacedJson(result.with(result.content.with(index, whole)), 'compact', maxChars)
  if (json === undefined) throw decodedTooLong(maxChars)
  return json
}

interface McpResult {
  readonly content: readonly Value[]
  readonly structured: Value
  /** The same result with other content. */
  with(content: readonly Value[]): Value
}

function readResult(value: Value): McpResult | undefined {
  if (!(value instanceof ObjectValue)) return undefined
  const { keys, values } = value
  const at = keys.indexOf('content')
  const content = values[at]
  const structured = values[keys.indexOf('structuredContent')]
  if (!Array.isArray(content) || structured === undefined) return undefined
  return { content, structured, with: other => new ObjectValue(keys, values.with(at, other)) }
}

/** Whether it begins `{"type": "text", "text": "…"`, as servers write it. */
function hasText(item: Value): boolean {
  if (!(item instanceof ObjectValue) || !isTextItem(item)) return false
  return item.keys[1] === 'text' && typeof item.values[1] === 'string'
}

function lacksText(item: Value): boolean {
  return item instanceof ObjectValue && isTextItem(item) && !item.keys.includes('text')
}

function isTextItem({ keys, values }: ObjectValue): boolean {
  return keys[0] === 'type' && values[0] === 'text'
}

/**
 * The word of the style with which `repeat` returns the text, if it has the content of
 * `structured`.
 */
function repeatedAs(text: string, structured: Value): string | undefined {
  const inside = resultOf(structured)
  if (inside === text) return WRAPPED + PLAIN
  const parsed = parseJson(text, { maxDepth: MAX_DEPTH })
  if (!parsed.ok) return undefined
  const prefix = equalValues(parsed.value, structured)
    ? ''
    : inside !== undefined && equalValues(parsed.value, inside)
      ? WRAPPED
      : undefined
  const spacing = prefix === undefined ? undefined : findNamedSpacing(text, parsed.value)
  return spacing === undefined ? undefined : prefix + spacing
}

function repeat(structured: Value, word: string, maxChars: number): string | undefined {
  if (!word.startsWith(WRAPPED)) return writeSpacedJson(structured, word, maxChars)
  const inside = resultOf(structured)
  const spacing = word.slice(WRAPPED.length)
  if (inside === undefined) return undefined
  if (spacing === PLAIN) return typeof inside === 'string' ? inside : undefined
  return writeSpacedJson(inside, spacing, maxChars)
}

/** The only member of `{"result": …}`. */
function resultOf(structured: Value): Value | undefined {
  if (!(structured instanceof ObjectValue) || structured.keys.length !== 1) return undefined
  return structured.keys[0] === 'result' ? structured.values[0] : undefined
}
