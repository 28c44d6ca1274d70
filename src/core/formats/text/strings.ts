import { parseJson } from '../../json/parse-json.ts'
import type { Value } from '../../json/value.ts'
import { jsonLength, writeJson } from '../../json/write-json.ts'
import { formatId } from '../json/json-format.ts'
import { decodedTooLong, notDecodable } from '../not-decodable.ts'
import { cheapestJson, readInnerStyle } from './inner-json.ts'
import { innerTexts } from './inner-text.ts'
import { findSpacing } from './json-spacing.ts'
import { MAX_DEPTH, replaceStrings } from './replace-strings.ts'
import { splitFormat, type TextFormat, type TextTools } from './text-format.ts'

/** A shorter string costs less where it is than as a block. */
const MIN_CHARS = 200
/** Lines from which a string is a text. */
const MIN_LINES = 4
/** More strings stay in the frame. */
const MAX_BLOCKS = 64
/** Tokens of a name in the frame and of the line above a block. */
const BLOCK_TOKENS = 12
/** Written as they are in a block, and changed or lost on the way by some channels. */
const FRAGILE = /[\0\ufeff]/

/** Which strings are blocks: those that cost less so, or whatever the caller takes. */
type Taken = 'cheaper' | ((text: string) => boolean)

/**
 * JSON with texts in its strings, such as results of MCP and of shells. Each long string of several
 * lines is a block below the JSON, in a text format of its own. The JSON has the block's name in
 * its place.
 * @param blocks formats that a block may have
 */
export function createStrings(blocks: readonly TextFormat[], which: Taken = 'cheaper'): TextFormat {
  const byId = new Map(blocks.map(format => [formatId(format), format]))
  return {
    id: 'strings',
    version: 1,
    json: true,
    accepts: hasLongTexts,
    steps: text => text.length,
    encode(text, tools) {
      const value = valueIn(text, tools)
      if (value === undefined) return []
      const taken: Block[] = []
      const names = new Set<string>()
      const frame = replaceStrings(value, string => {
        const block = taken.length < MAX_BLOCKS ? blockOf(string, { blocks, which }, tools) : null
        if (block === null) {
          if (string.startsWith(NAME)) names.add(string)
          return string
        }
        taken.push(block)
        return nameOf(taken.length)
      })
      // A string that has the name of a block would be read as that block.
      if (taken.length === 0 || taken.some((_, at) => names.has(nameOf(at + 1)))) return []
      const inner = cheapestJson(
        frame,
        tools,
        jsonLength(frame, Number.POSITIVE_INFINITY),
        () => true,
      )
      if (inner === null) return []
      const lines = countLines(inner.content)
      const parts = taken.map(({ content, format }, at) => {
        return `${headOf(at + 1, countLines(content), format)}\n${content}`
      })
      const style = `${lines},${formatId(inner.format)}`
      return [{ content: [inner.content, ...parts].join('\n'), style }]
    },
    decode: (content, style, maxChars) => decode(content, style, maxChars, byId),
  }
}

/** The value of the text; `undefined` if it is no JSON, or nested too deep. */
function valueIn(text: string, { parsed }: TextTools): Value | undefined {
  if (parsed !== undefined) return parsed.depth <= MAX_DEPTH ? parsed.value : undefined
  const read = parseJson(text, { maxDepth: MAX_DEPTH })
  return read.ok ? read.value : undefined
}

/** A string as it stands below the frame; without `format` it is unchanged. */
interface Block {
  readonly content: string
  readonly format: string | undefined
}

/** Begins the name of a block. */
const NAME = 'text '

function nameOf(number: number): string {
  return `${NAME}${number}`
}

const BACKSLASH = 0x5c
const LETTER_N = 0x6e
const QUOTE = 0x22

/**
 * Whether a string of a JSON text may have enough lines. Most JSON has none, so this looks only at
 * strings with an escaped line feed, and before anything is parsed.
 */
export function hasLongTexts(json: string): boolean {
  if (json.length < MIN_CHARS) return false
  let at = json.indexOf('\\n')
  while (at !== -1) {
    let feeds = 0
    for (; at < json.length; at++) {
      const code = json.charCodeAt(at)
      if (code === QUOTE) break
      if (code === BACKSLASH && json.charCodeAt(++at) === LETTER_N) feeds++
    }
    if (feeds >= MIN_LINES - 1) return true
    at = json.indexOf('\\n', at)
  }
  return false
}

function headOf(number: number, lines: number, format: string | undefined): string {
  const count = lines === 1 ? '1 line' : `${lines} lines`
  return `${nameOf(number)}, ${count}${format === undefined ? '' : `, ${format}`}`
}

/** A bracket and a quotation mark within a string, with what may be between them. */
const INNER_JSON = /[{[](?: |\\[nrt])*\\"/

const HEAD = /^text ([1-9]\d{0,3}), ([1-9]\d{0,8}) lines?(?:, (\S+))?$/
const STYLE = /^([1-9]\d{0,8}),([a-z_]+@\d{1,4})$/

/** Whether a string is so long, and has so many lines, that it may be a block. */
export function isLongText(text: string): boolean {
  return text.length >= MIN_CHARS && countLines(text) >= MIN_LINES
}

/** The string as a block in its cheapest format, or `null` if it stays where it is. */
function blockOf(
  text: string,
  { blocks, which }: { readonly blocks: readonly TextFormat[]; readonly which: Taken },
  tools: TextTools,
): Block | null {
  if (text.length < MIN_CHARS || FRAGILE.test(text) || !text.isWellFormed()) return null
  const { counter, work } = tools
  if (work?.take(text.length) === false) return null
  if (which !== 'cheaper') return which(text) ? { content: text, format: undefined } : null
  if (!isProse(text)) return null
  let best: Block = { content: text, format: undefined }
  let lowest = counter.count(text)
  for (const each of innerTexts(text, blocks, tools)) {
    const tokens = counter.count(`${each.content}${each.format}`)
    if (tokens >= lowest) continue
    lowest = tokens
    best = each
  }
  const inPlace = counter.count(writeJson(text))
  return lowest + BLOCK_TOKENS < inPlace ? best : null
}

/** Whether a string is a long text that is no JSON, which the format of the frame writes itself. */
export function isProse(text: string): boolean {
  if (!isLongText(text)) return false
  const parsed = parseJson(text, { maxDepth: MAX_DEPTH })
  return !parsed.ok || findSpacing(text, parsed.value) === undefined
}

/** Whether a string may be JSON that is long enough to be referred to. */
export function isInnerJson(text: string): boolean {
  if (text.length < MIN_CHARS) return false
  const first = text.trimStart().charAt(0)
  return first === '{' || first === '['
}

/** Whether a string of a JSON text may be JSON with a string in it. */
export function hasInnerJson(json: string): boolean {
  return json.length >= MIN_CHARS && INNER_JSON.test(json)
}

function decode(
  content: string,
  style: string,
  maxChars: number,
  byId: ReadonlyMap<string, TextFormat>,
): string {
  const [, count, id = ''] = STYLE.exec(style) ?? []
  const frameFormat = readInnerStyle(`compact,${id}`)?.formats.values().next().value
  if (frameFormat === undefined) throw notDecodable(content, 0, 'no known style of texts')
  const frameEnd = endOfLines(content, 0, Number(count))
  const texts = new Map<string, string>()
  let length = 0
  for (let at = frameEnd + 1; at <= content.length; ) {
    const headEnd = endOfLines(content, at, 1)
    const [, number, lines, format] = HEAD.exec(content.slice(at, headEnd)) ?? []
    if (number === undefined || Number(number) !== texts.size + 1) {
      throw notDecodable(content, at, 'the heading of the next text expected')
    }
    const end = endOfLines(content, headEnd + 1, Number(lines))
    const block = content.slice(headEnd + 1, end)
    const text = readBlock(block, format, maxChars - length, byId)
    if (text === undefined) throw notDecodable(content, at, 'no known format of a text')
    length += text.length
    if (length > maxChars) throw decodedTooLong(maxChars)
    texts.set(nameOf(texts.size + 1), text)
    at = end + 1
  }
  const used = new Set<string>()
  const value = replaceStrings(frameFormat.decode(content.slice(0, frameEnd)), string => {
    if (!texts.has(string)) return string
    if (used.has(string)) throw notDecodable(content, 0, 'a text that is named twice')
    used.add(string)
    return texts.get(string)!
  })
  if (used.size !== texts.size) throw notDecodable(content, 0, 'a text that the JSON does not name')
  if (jsonLength(value, maxChars) > maxChars) throw decodedTooLong(maxChars)
  return writeJson(value)
}

function readBlock(
  block: string,
  format: string | undefined,
  maxChars: number,
  byId: ReadonlyMap<string, TextFormat>,
): string | undefined {
  if (format === undefined) return block
  const { base, style } = splitFormat(format)
  return byId.get(base)?.decode(block, style, maxChars)
}

function countLines(text: string): number {
  let lines = 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++
  return lines
}

/** The end of the last of so many lines, without its line feed. */
function endOfLines(content: string, start: number, lines: number): number {
  let end = start - 1
  for (let line = 0; line < lines; line++) {
    if (end >= content.length) throw notDecodable(content, start, 'more lines expected')
    const next = content.indexOf('\n', end + 1)
    end = next === -1 ? content.length : next
  }
  return end
}
