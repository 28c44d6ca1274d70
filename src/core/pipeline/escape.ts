import { jsonCompact } from '../formats/json/json-compact.ts'
import { formatId } from '../formats/json/json-format.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import {
  type Escaped,
  escapeInJson,
  escapeLookAlikes,
  unescapeLookAlikes,
} from '../hints/escape.ts'
import { OPENING } from '../hints/hint-line.ts'
import { findLookAlikes, type LookAlikes } from '../hints/look-alikes.ts'
import { parseJson } from '../json/parse-json.ts'
import { equalValues, type Value } from '../json/value.ts'
import { readReference } from '../sessions/lines/reference-line.ts'
import type { Referral } from '../sessions/turn/referral.ts'
import type { Choice } from './gate.ts'
import type { LayerInput } from './layer.ts'
import { escapedFormat } from './wrapped-format.ts'

/** What a gap begins with, and no other look-alike. */
const GAP_START = '… '

const JSON_FORMAT = formatId(jsonCompact)

/**
 * Escapes everything in the chosen text that a reader could mistake for a hint of ours. This is the
 * last step of every layer and format. A text without look-alikes is returned unchanged. If the
 * escapes take as much as the format saved, the content itself leaves, with its own escapes. Only
 * these may make an answer longer than its input.
 */
export function escapeChoice(
  input: LayerInput,
  choice: Choice,
  kinds: LookAlikes,
  innerMarks = 0,
): Choice {
  const { content, value, prices, marked } = input
  const isSame = choice.format === PASSTHROUGH
  if (kinds === 'hints' && !isSame && marksIn(choice.content) > marksIn(content) + innerMarks) {
    return escapeChoice(input, itself(input, choice), kinds)
  }
  const isJson = value !== undefined && (isSame || choice.format === JSON_FORMAT)
  const escaped = isJson
    ? escapedJson(choice.content, value, kinds)
    : escapedText(choice.content, kinds, isSame ? undefined : marked)
  if (escaped.count === 0) return choice
  const tokens = isSame ? prices.counter.count(escaped.content) : prices.price(escaped.content)
  if (tokens === null) return escapeChoice(input, itself(input, choice), kinds)
  const format = isJson ? JSON_FORMAT : escapedFormat(choice.format, kinds)
  return { ...choice, content: escaped.content, format, tokens, lookAlikes: escaped.count }
}

/** The content instead of the text that was chosen for it. */
function itself({ content, prices }: LayerInput, choice: Choice): Choice {
  const { readingPrice: _, ...rest } = choice
  return { ...rest, content, format: PASSTHROUGH, tokens: prices.baseline, layer: 'L3' }
}

/**
 * Lines that read as marks of what was left out. Where the content's own marks stay bare, a format
 * must not bring a cell to the start of a line that reads as another.
 */
export function marksIn(text: string): number {
  return findLookAlikes(text).length - findLookAlikes(text, 'hints').length
}

/** The gate of escapes: an escape that decoding cannot undo is not made. */
function escapedText(text: string, kinds: LookAlikes, marked?: Value): Escaped {
  // A value with something like a gap in its data has no gaps of ours.
  const isGap = (at: number) => text.startsWith(GAP_START, at)
  const escaped = escapeLookAlikes(text, kinds, marked === undefined ? undefined : isGap)
  return escaped.count === 0 || unescapeLookAlikes(escaped.content, kinds) === text
    ? escaped
    : { content: text, count: 0 }
}

function escapedJson(json: string, value: Value, kinds: LookAlikes): Escaped {
  const escaped = escapeInJson(json, kinds)
  if (escaped.count === 0) return escaped
  const parsed = parseJson(escaped.content, { maxDepth: Number.POSITIVE_INFINITY })
  const isKept = parsed.ok && equalValues(parsed.value, value)
  return isKept ? escaped : { content: json, count: 0 }
}

/** New lines with references between them. Everything else that looks like a hint is escaped. */
export type BesideReferences = Pick<Choice, 'content' | 'format' | 'lookAlikes'>

/**
 * Escapes look-alikes of hints in the new lines of a text whose references stay unchanged. @param
 * content in which every line that reads as a reference is one; see `hasOnlyReferences`
 */
export function escapeBeside(
  content: string,
  format: string,
  kinds: LookAlikes = 'all',
): BesideReferences {
  const escaped = escapeLookAlikes(content, kinds, at => {
    return (at === 0 || content[at - 1] === '\n') && isReference(lineAt(content, at))
  })
  const { count: lookAlikes } = escaped
  // The gate of escapes: an escape that decoding cannot undo is not made.
  if (lookAlikes === 0 || unescapeLookAlikes(escaped.content, kinds) !== content) {
    return { content, format }
  }
  return { content: escaped.content, format: escapedFormat(format, kinds), lookAlikes }
}

/**
 * Whether the lines of a text that read as references are those of the referral and no others. A
 * format that takes the numbers off lines may uncover what follows them.
 */
export function hasOnlyReferences(content: string, { hints }: Referral): boolean {
  const found = content.split('\n').filter(isReference)
  return found.length === hints.length && found.every((line, at) => line === hints[at]!.text)
}

function isReference(line: string): boolean {
  return line.startsWith(OPENING) && readReference(line) !== null
}

function lineAt(text: string, start: number): string {
  const end = text.indexOf('\n', start)
  return text.slice(start, end === -1 ? text.length : end)
}
