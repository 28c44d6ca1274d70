import { parseJson } from '../../json/parse-json.ts'
import type { Value } from '../../json/value.ts'
import { jsonLength, writeJson } from '../../json/write-json.ts'
import type { Uses } from '../../reading/constructs.ts'
import { addUses } from '../../reading/price.ts'
import { formatId, type JsonFormat } from '../json/json-format.ts'
import { decodedTooLong, notDecodable } from '../not-decodable.ts'
import { countLines } from '../work.ts'
import { cheapestJson, readInnerStyle } from './inner-json.ts'
import { type InnerStrings, JSON_TEXT, readJsonText, writeJsonText } from './json-text.ts'
import {
  BELOW,
  beginsLikeResult,
  type LoneStyle,
  readLoneStyle,
  readResult,
  startBelow,
  writeBelow,
  writeResultText,
} from './lone-text.ts'
import { MAX_DEPTH, replaceStrings } from './replace-strings.ts'
import {
  type Block,
  blockOf,
  hasInnerJson,
  hasLongTexts,
  resultBlock,
  type TakenBlocks,
} from './string-blocks.ts'
import { splitFormat, type TextFormat, type TextTools, type WrittenText } from './text-format.ts'

/** More strings stay in the frame. */
const MAX_BLOCKS = 64
/** Characters of a text for each of its frame, from which on no value format is tried. */
const TEXT_SHARE = 8

/**
 * JSON with texts in its strings, such as results of MCP and of shells. Each long string of several
 * lines is a block below the JSON, in a text format of its own. The JSON has the block's name in
 * its place.
 * @param blocks formats that a block may have
 */
export function createStrings(
  blocks: readonly TextFormat[],
  which: TakenBlocks = 'cheaper',
): TextFormat {
  const reader: BlockReader = {
    byId: new Map(blocks.map(format => [formatId(format), format])),
    inner: 0,
    strings: {
      id: 'strings@1',
      encode: (text, tools, inner) => (isAccepted(text) ? write(text, tools, inner) : []),
      decode: (content, style, maxChars, inner) =>
        decodeWithin(content, style, maxChars, { ...reader, inner }),
    },
  }
  const isAccepted = (text: string) =>
    hasLongTexts(text) || (which === 'cheaper' && (beginsLikeResult(text) || hasInnerJson(text)))

  /** @param inner texts of JSON that the JSON is in */
  function write(text: string, tools: TextTools, inner: number): readonly WrittenText[] {
    const value = valueIn(text, tools)
    if (value === undefined) return []
    const options = {
      blocks,
      which,
      chars: text.length,
      json: (json: string) => writeJsonText(json, reader.strings, tools, inner + 1),
    }
    const result = readResult(value)
    const only = result && resultBlock(result.text, options, tools)
    if (only === null) return []
    if (only !== undefined) {
      return [{ ...writeResultText(result!.word, only), ...usesOf(only), ...OUTDOES }]
    }
    const taken: Block[] = []
    const names = new Set<string>()
    let frame = replaceStrings(value, string => {
      const block = taken.length < MAX_BLOCKS ? blockOf(string, options, tools) : null
      if (block === null) {
        if (string === BELOW || string.startsWith(NAME)) names.add(string)
        return string
      }
      taken.push(block)
      return nameOf(taken.length)
    })
    // A string that has the name of a block would be read as that block.
    if (taken.length === 0 || taken.some((_, at) => names.has(nameOf(at + 1)))) return []
    const isLone = taken.length === 1 && !names.has(BELOW)
    if (isLone) frame = replaceStrings(frame, string => (string === nameOf(1) ? BELOW : string))
    const frameChars = jsonLength(frame, Number.POSITIVE_INFINITY)
    const around = cheapestJson(frame, tools, frameChars, () => true)
    if (around === null) return []
    const lines = countLines(around.content)
    const parts = taken.map(({ content, format }, at) => {
      return `${headOf(at + 1, countLines(content), format)}\n${content}`
    })
    const style = `${lines},${formatId(around.format)}`
    const uses = usesOf(around, ...taken)
    if (isLone) {
      const written = { ...writeBelow({ content: around.content, style }, taken[0]!), ...uses }
      const isMost = TEXT_SHARE * frameChars <= text.length - frameChars
      return [isMost ? { ...written, ...outdoes(frame, taken[0]!, tools) } : written]
    }
    return [{ content: [around.content, ...parts].join('\n'), style, ...uses }]
  }

  return {
    id: 'strings',
    version: 1,
    json: true,
    accepts: isAccepted,
    steps: text => text.length,
    encode: (text, tools) => write(text, tools, 0),
    decode: (content, style, maxChars) => writeJson(decodeWithin(content, style, maxChars, reader)),
    decodeValue: (content, style, maxChars) => decode(content, style, maxChars, reader),
  }
}

function usesOf(...parts: readonly { readonly uses?: Uses }[]): Pick<WrittenText, 'uses'> {
  const uses = addUses(...parts.map(part => part.uses))
  return Object.keys(uses).length === 0 ? {} : { uses }
}

/** How texts below JSON are read. */
interface BlockReader {
  readonly byId: ReadonlyMap<string, TextFormat>
  readonly strings: InnerStrings
  /** Texts of JSON that the JSON is in. */
  readonly inner: number
}

/** A result has nothing beside its text. */
const OUTDOES = { outdoesValues: 0 } as const

/**
 * Value formats write the text in quotes, which saves no more than the frame has, or between
 * fences, which take more than a gap unless the text begins with a line feed.
 */
function outdoes(frame: Value, { content }: Block, { counter }: TextTools) {
  if (content.startsWith('\n')) return {}
  // Twice, because white space in the frame is saved too.
  return { outdoesValues: 2 * counter.count(writeJson(frame)) }
}

/** The value of the text; `undefined` if it is no JSON, or nested too deep. */
function valueIn(text: string, { parsed }: TextTools): Value | undefined {
  if (parsed !== undefined) return parsed.depth <= MAX_DEPTH ? parsed.value : undefined
  const read = parseJson(text, { maxDepth: MAX_DEPTH })
  return read.ok ? read.value : undefined
}

/** Begins the name of a block. */
const NAME = 'text '

function nameOf(number: number): string {
  return `${NAME}${number}`
}

function headOf(number: number, lines: number, format: string | undefined): string {
  const count = lines === 1 ? '1 line' : `${lines} lines`
  return `${nameOf(number)}, ${count}${format === undefined ? '' : `, ${format}`}`
}

const HEAD = /^text ([1-9]\d{0,3}), ([1-9]\d{0,8}) lines?(?:, (\S+))?$/
const STYLE = /^([1-9]\d{0,8}),([a-z_]+@\d{1,4})$/

/** The value, if its JSON has at most so many characters. */
function decodeWithin(
  content: string,
  style: string,
  maxChars: number,
  reader: BlockReader,
): Value {
  const value = decode(content, style, maxChars, reader)
  if (jsonLength(value, maxChars) > maxChars) throw decodedTooLong(maxChars)
  return value
}

/** @param maxChars of the texts; the JSON around them may make more of it */
function decode(content: string, style: string, maxChars: number, reader: BlockReader): Value {
  const lone = readLoneStyle(style)
  if (lone !== undefined) return decodeLone(content, lone, maxChars, reader)
  const [, count, id = ''] = STYLE.exec(style) ?? []
  const frameFormat = frameFormatOf(content, id)
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
    const text = readBlock(block, format, maxChars - length, reader)
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
  return value
}

function frameFormatOf(content: string, id: string): JsonFormat {
  const format = readInnerStyle(`compact,${id}`)?.formats.values().next().value
  if (format === undefined) throw notDecodable(content, 0, 'no known style of texts')
  return format
}

/** The JSON of a content that is one text, or has one below its frame. */
function decodeLone(
  content: string,
  { around, lines, frame, format }: LoneStyle,
  maxChars: number,
  reader: BlockReader,
): Value {
  const frameEnd = around === undefined ? endOfLines(content, 0, lines) : 0
  const start = around === undefined ? startBelow(content, frameEnd) : 0
  if (start === undefined) throw notDecodable(content, 0, 'a text below the JSON expected')
  const text = readBlock(content.slice(start), format, maxChars, reader)
  if (text === undefined) throw notDecodable(content, start, 'no known format of a text')
  let uses = 0
  const name = (string: string) => {
    if (string !== BELOW) return string
    uses++
    return text
  }
  const value =
    around?.(text) ??
    replaceStrings(frameFormatOf(content, frame).decode(content.slice(0, frameEnd)), name)
  if (around === undefined && uses !== 1) {
    throw notDecodable(content, 0, 'JSON that names its text once expected')
  }
  return value
}

function readBlock(
  block: string,
  format: string | undefined,
  maxChars: number,
  reader: BlockReader,
): string | undefined {
  if (format === undefined) return block
  const { base, style } = splitFormat(format)
  if (base === JSON_TEXT) {
    return readJsonText(block, style, maxChars, reader.strings, reader.inner + 1)
  }
  return reader.byId.get(base)?.decode(block, style, maxChars)
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
