import { OPEN_BRACE, OPEN_BRACKET } from '../../json/char-codes.ts'
import { parseJson } from '../../json/parse-json.ts'
import type { JsonFormat } from '../json/json-format.ts'
import { decodedTooLong, notDecodable } from '../not-decodable.ts'
import { bracketSteps } from '../work.ts'
import { cheapestJson, innerStyle, readInnerStyle } from './inner-json.ts'
import { findNamedSpacing, writeSpacedJson } from './json-spacing.ts'
import { fenceMark } from './markdown-tables.ts'
import type { TextFormat, TextTools, WrittenText } from './text-format.ts'

/**
 * Text with JSON in it, such as a heading and an answer below: each JSON value that fills whole
 * lines goes into a fence in the format that the fence names. JSON that is in a fence already is an
 * example, and stays unchanged.
 */
export const embedded: TextFormat = {
  id: 'embedded',
  version: 1,
  accepts: (_, { inner_formats }) => inner_formats.includes('inline_json'),
  steps: text => text.length * CHAR_STEPS + bracketSteps(text),
  encode,
  decode,
}

const FENCE = '```'
/** Steps of a character. */
const CHAR_STEPS = 30
/** A shorter value saves less than its fence costs. */
const MIN_JSON_CHARS = 60
const MAX_DEPTH = 250
const MAX_VAIN_READS = 4
/** Tokens of both fence lines. */
const FENCE_TOKENS = 5

interface JsonLines {
  readonly end: number
  readonly source: string
  readonly spacing: string
  readonly content: string
  readonly format: JsonFormat
}

function encode(text: string, tools: TextTools): readonly WrittenText[] {
  const out: string[] = []
  const used: JsonFormat[] = []
  const openers = new Set(tools.formats.map(opener))
  let spacing: string | undefined
  let fence: string | null = null
  /**
   * Characters that may still be read without finding JSON: the whole text a few times, whatever
   * its lines begin with.
   */
  let patience = text.length * MAX_VAIN_READS
  for (let at = 0; at <= text.length; ) {
    const end = lineEnd(text, at)
    const line = text.slice(at, end)
    if (openers.has(line)) return []
    const mark = fenceMark(line)
    if (fence === null) fence = mark
    else if (mark?.startsWith(fence) && line.trim() === mark) fence = null
    const json = fence === null && patience > 0 ? readJsonLines(text, at, spacing, tools) : null
    if (json === null || 'vain' in json) {
      patience -= json?.vain ?? 0
      out.push(line)
    } else {
      spacing = json.spacing
      used.push(json.format)
      out.push(opener(json.format), json.content, FENCE)
    }
    at = (json !== null && 'end' in json ? json.end : end) + 1
  }
  if (spacing === undefined) return []
  return [{ content: out.join('\n'), style: innerStyle(spacing, used) }]
}

/**
 * The JSON value that starts at `start` and ends with a line, if another format saves tokens.
 * Otherwise returns how many characters were read to find that out.
 */
function readJsonLines(
  text: string,
  start: number,
  wanted: string | undefined,
  tools: TextTools,
): JsonLines | { readonly vain: number } | null {
  const c = text.charCodeAt(start)
  if (c !== OPEN_BRACE && c !== OPEN_BRACKET) return null
  const parsed = parseJson(text, { start, prefix: true, maxDepth: MAX_DEPTH })
  const vain = { vain: (parsed.ok ? parsed.end : parsed.offset) - start }
  if (!parsed.ok || parsed.end - start < MIN_JSON_CHARS) return vain
  if (parsed.end < text.length && text[parsed.end] !== '\n') return vain
  const source = text.slice(start, parsed.end)
  const spacing = findNamedSpacing(source, parsed.value)
  if (spacing === undefined || (wanted !== undefined && wanted !== spacing)) return vain
  const inner = cheapestJson(parsed.value, tools, source.length, hasNoFence)
  if (inner === null || inner.tokens + FENCE_TOKENS >= tools.counter.count(source)) return vain
  return { end: parsed.end, source, spacing, content: inner.content, format: inner.format }
}

function hasNoFence(content: string): boolean {
  return content !== FENCE && !`\n${content}\n`.includes(`\n${FENCE}\n`)
}

function opener(format: JsonFormat): string {
  return FENCE + format.id
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf('\n', start)
  return end === -1 ? text.length : end
}

function decode(content: string, style: string, maxChars: number): string {
  const read = readInnerStyle(style)
  if (read === undefined) throw notDecodable(content, 0, 'no known style of JSON')
  const byOpener = new Map([...read.formats.values()].map(each => [opener(each), each]))
  const out: string[] = []
  let length = 0
  for (let at = 0; at <= content.length; ) {
    let end = lineEnd(content, at)
    let part = content.slice(at, end)
    const format = byOpener.get(part)
    if (format !== undefined) {
      const close = closingFence(content, end)
      if (close === -1) throw notDecodable(content, at, 'a fence that is not closed')
      const value = format.decode(content.slice(end + 1, close))
      const json = writeSpacedJson(value, read.spacing, maxChars - length)
      if (json === undefined) throw decodedTooLong(maxChars)
      part = json
      end = close + 1 + FENCE.length
    }
    length += part.length + 1
    if (length - 1 > maxChars) throw decodedTooLong(maxChars)
    out.push(part)
    at = end + 1
  }
  return out.join('\n')
}

/** The line feed before the next line that is a fence and nothing else, or -1. */
function closingFence(content: string, from: number): number {
  for (
    let at = content.indexOf(`\n${FENCE}`, from);
    at !== -1;
    at = content.indexOf(`\n${FENCE}`, at + 1)
  ) {
    const after = at + 1 + FENCE.length
    if (after === content.length || content[after] === '\n') return at
  }
  return -1
}
