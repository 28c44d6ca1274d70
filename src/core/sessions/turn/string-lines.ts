import { jsonCompact } from '../../formats/json/json-compact.ts'
import { JSON_FORMATS } from '../../formats/json/registry.ts'
import { MAX_DEPTH } from '../../formats/text/replace-strings.ts'
import {
  hasInnerJson,
  hasLongTexts,
  isInnerJson,
  isProse,
} from '../../formats/text/string-blocks.ts'
import { createStrings } from '../../formats/text/strings.ts'
import { textFormat } from '../../formats/text/text-format.ts'
import { parseJson } from '../../json/parse-json.ts'
import { writeJson } from '../../json/write-json.ts'
import type { TokenCounter } from '../../tokens/counter.ts'

/**
 * A JSON result whose long strings are texts below it, as in `strings@1`, of which lines are
 * replaced by references, as in `lines@1`.
 */
export const STRING_LINES_FORMAT = 'string_lines@1'

/** The same with the layout of the JSON, and with the format of its new lines, if it has one. */
const WITH_LAYOUT = /^(string_lines@1;[\w@,]+)(?:;(.+))?$/

/** Characters of JSON beside its texts that are written in other formats than compact JSON. */
const MAX_FRAME = 1 << 16

/** Each text as it is, so that its lines are those of the string. */
const UNCHANGED = createStrings([], isProse)

/** A JSON result with its long strings below it, as lines of a text. */
export interface LaidOut {
  readonly text: string
  readonly format: string
  /** What decoding gives: the JSON without its white space. */
  readonly json: string
}

/**
 * Lays a JSON result out in all ways that may be worth it, the simplest one first; none if it has
 * no long strings. JSON in a string is one only if the agent has it already.
 * @param isKnown whether an earlier text equals the string
 */
export function* layOutStrings(
  content: string,
  counter: TokenCounter,
  isKnown: (text: string) => boolean,
): Generator<LaidOut> {
  const first = content.trimStart().charAt(0)
  if (first !== '{' && first !== '[') return
  if (!hasLongTexts(content) && !hasInnerJson(content)) return
  const parsed = parseJson(content, { maxDepth: MAX_DEPTH })
  if (!parsed.ok) return
  const strings = createStrings([], text => (isInnerJson(text) && isKnown(text)) || isProse(text))
  const tools = { counter, parsed: { value: parsed.value, depth: MAX_DEPTH } }
  const json = writeJson(parsed.value)
  let before: string | undefined
  for (const formats of [[jsonCompact], JSON_FORMATS]) {
    const [written] = strings.encode(content, { ...tools, formats })
    if (written === undefined || written.content === before) return
    const isFirst = before === undefined
    before = written.content
    yield { text: written.content, format: textFormat(STRING_LINES_FORMAT, written.style), json }
    if (isFirst && written.content.indexOf('\n') > MAX_FRAME) return
  }
}

/** The format of a text with references to lines in strings, and that of its new lines. */
export function readStringLines(format: string): { outer: string; inner?: string } | null {
  const [, outer, inner] = WITH_LAYOUT.exec(format) ?? []
  if (outer === undefined) return null
  return { outer, ...(inner === undefined ? {} : { inner }) }
}

/** @throws AppError `not_decodable`, `payload_too_large` */
export function foldStrings(text: string, format: string, maxChars: number): string {
  return UNCHANGED.decode(text, format.slice(STRING_LINES_FORMAT.length + 1), maxChars)
}
