import { parseJson } from '../../json/parse-json.ts'
import type { Value } from '../../json/value.ts'
import type { Uses } from '../../reading/constructs.ts'
import { readingPrice } from '../../reading/price.ts'
import { formatId } from '../json/json-format.ts'
import { findJsonFormat } from '../json/registry.ts'
import { decodedTooLong, notDecodable } from '../not-decodable.ts'
import { bracketSteps } from '../work.ts'
import { cheapestJson } from './inner-json.ts'
import { findSpacing, isSpacing, writeSpacedJson } from './json-spacing.ts'
import { MAX_DEPTH } from './replace-strings.ts'
import type { TextTools, WrittenText } from './text-format.ts'

/**
 * A text that is JSON, in a string of other JSON: written as that JSON would be by itself. The
 * style has its spacing, then the format and the format's own style.
 */
export const JSON_TEXT = 'json@1'

/**
 * JSON in texts of JSON, so deep. Deeper JSON stays as it is, and none is read. So the work is
 * linear, and the longest format is one that `/v1/decode` takes.
 */
const MAX_INNER = 12

/** The format of JSON with texts in its strings, for the JSON in a text. */
export interface InnerStrings {
  readonly id: string
  encode(text: string, tools: TextTools, inner: number): readonly WrittenText[]
  decode(content: string, style: string, maxChars: number, inner: number): Value
}

/** Steps of a character, to read it and to find out how it was written. */
const CHAR_STEPS = 30
const STYLE = /^(\w[\w-]*),([a-z_]+@\d{1,4})(?:,(.+))?$/
/** Characters of a style at most, so that the whole format is one that `/v1/decode` takes. */
const MAX_STYLE_CHARS = 960

const JSON_START = /^[[{]/

/** Whether a text begins as JSON does that this may write. */
export function beginsLikeJson(text: string): boolean {
  return JSON_START.test(text)
}

/**
 * The text in the cheapest format for the JSON that it is; `null` if it is no JSON, or if its
 * spacing is that of no program.
 * @param inner texts of JSON that it is in
 */
export function writeJsonText(
  text: string,
  strings: InnerStrings,
  tools: TextTools,
  inner: number,
): (WrittenText & { readonly tokens: number }) | null {
  if (inner > MAX_INNER || !beginsLikeJson(text)) return null
  const steps = text.length * CHAR_STEPS + bracketSteps(text)
  if (tools.work?.take(steps) === false) return null
  const parsed = parseJson(text, { maxDepth: MAX_DEPTH })
  const spacing = parsed.ok ? findSpacing(text, parsed.value) : undefined
  if (!parsed.ok || spacing === undefined) return null
  const { counter, work, formats, reading } = tools
  const alone: TextTools = {
    counter,
    formats,
    ...(reading === undefined ? {} : { reading }),
    ...(work === undefined ? {} : { work }),
    parsed: { value: parsed.value, depth: MAX_DEPTH },
  }
  const written = strings
    .encode(text, alone, inner)
    .map(({ content, style, tokens, ...rest }) => ({
      ...rest,
      content,
      style: `${spacing},${strings.id},${style}`,
      tokens: tokens ?? counter.count(content),
    }))
    .filter(({ style }) => style.length <= MAX_STYLE_CHARS)
  const priceOf = ({ tokens, uses }: { readonly tokens: number; readonly uses?: Uses }) =>
    tokens + (reading && uses ? readingPrice(reading, uses, tokens) : 0)
  const best = written.sort((a, b) => priceOf(a) - priceOf(b))[0]
  if (best?.outdoesValues === 0) return best
  const plain = cheapestJson(parsed.value, alone, text.length, () => true)
  if (plain === null || (best !== undefined && priceOf(best) < priceOf(plain))) return best ?? null
  const { content, format, tokens, uses } = plain
  return { content, style: `${spacing},${formatId(format)}`, tokens, ...(uses && { uses }) }
}

/**
 * The text again.
 * @throws AppError `not_decodable`, `payload_too_large`
 */
export function readJsonText(
  content: string,
  style: string,
  maxChars: number,
  strings: InnerStrings,
  inner: number,
): string {
  const [, spacing, id = '', rest] = STYLE.exec(style) ?? []
  if (spacing === undefined || !isSpacing(spacing) || inner > MAX_INNER) {
    throw notDecodable(content, 0, 'no known style of JSON in a text')
  }
  const value = readValue(content, { id, rest }, maxChars, strings, inner)
  const json = writeSpacedJson(value, spacing, maxChars)
  if (json === undefined) throw decodedTooLong(maxChars)
  return json
}

function readValue(
  content: string,
  { id, rest }: { readonly id: string; readonly rest: string | undefined },
  maxChars: number,
  strings: InnerStrings,
  inner: number,
): Value {
  if (id === strings.id && rest !== undefined) return strings.decode(content, rest, maxChars, inner)
  const format = rest === undefined ? findJsonFormat(id) : undefined
  if (format === undefined) throw notDecodable(content, 0, 'no known format of JSON in a text')
  return format.decode(content)
}
