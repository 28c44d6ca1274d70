import { parseJson } from '../../json/parse-json.ts'
import { writeJson } from '../../json/write-json.ts'
import type { Uses } from '../../reading/constructs.ts'
import { readingPrice } from '../../reading/price.ts'
import { countLines } from '../work.ts'
import { type InnerText, innerTexts } from './inner-text.ts'
import { findSpacing } from './json-spacing.ts'
import { beginsLikeJson, JSON_TEXT } from './json-text.ts'
import { MAX_DEPTH } from './replace-strings.ts'
import { type TextFormat, type TextTools, textFormat, type WrittenText } from './text-format.ts'

/** A shorter string costs less where it is than as a block. */
const MIN_CHARS = 200
/** Lines from which a string is a text. */
const MIN_LINES = 4
/** Tokens of a name in the frame and of the line above a block. */
const BLOCK_TOKENS = 12
/**
 * Written as they are in a block, and changed or lost on the way by some channels: NUL, and the
 * byte order mark that a text begins with.
 */
const FRAGILE = /^\ufeff|\0/

/** Which strings are blocks: those that cost less so, or whatever the caller takes. */
export type TakenBlocks = 'cheaper' | ((text: string) => boolean)

/** A string as it stands below the frame; without `format` it is unchanged. */
export interface Block {
  readonly content: string
  readonly format: string | undefined
  readonly uses?: Uses
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
      if (code !== BACKSLASH || json.charCodeAt(++at) !== LETTER_N) continue
      if (++feeds >= MIN_LINES - 1) return true
    }
    at = json.indexOf('\\n', at)
  }
  return false
}

/** A bracket and a quotation mark within a string, with what may be between them. */
const INNER_JSON = /[{[](?: |\\[nrt])*\\"/

/** Whether a string is so long, and has so many lines, that it may be a block. */
export function isLongText(text: string): boolean {
  return text.length >= MIN_CHARS && countLines(text) >= MIN_LINES
}

/** A block, and the tokens of its content. */
interface PricedBlock {
  readonly block: Block
  tokens(): number
}

export interface BlockOptions {
  readonly blocks: readonly TextFormat[]
  readonly which: TakenBlocks
  /** Characters of the whole JSON. */
  readonly chars: number
  /** A text that is JSON, written as JSON; `null` if it cannot be. */
  json(text: string): WrittenText | null
}

/** Whether a text comes back as it is from wherever it is sent. */
function isSturdy(text: string): boolean {
  return !FRAGILE.test(text) && text.isWellFormed()
}

/**
 * The only text of a result in its cheapest format, however short it is. Returns `null` if it stays
 * where it is, `undefined` if that is decided as for other strings: it is JSON.
 */
export function resultBlock(
  text: string,
  options: BlockOptions,
  tools: TextTools,
): (Block & { readonly tokens?: number }) | null | undefined {
  if (!isSturdy(text)) return null
  const { which, blocks } = options
  if (which !== 'cheaper') return blockOf(text, options, tools)
  if (beginsLikeJson(text)) {
    const json = jsonBlock(text, options)
    if (json !== null) return json
    if (parseJson(text, { maxDepth: MAX_DEPTH }).ok) return undefined
  }
  const { block, tokens } = cheapestText(text, { blocks, named: false }, tools)
  return { ...block, tokens: tokens() }
}

function jsonBlock(text: string, { json }: BlockOptions): (Block & { tokens?: number }) | null {
  const written = json(text)
  if (written === null) return null
  const { content, style, tokens, uses } = written
  const format = textFormat(JSON_TEXT, style)
  return { content, format, ...(uses && { uses }), ...(tokens !== undefined && { tokens }) }
}

/** The string as a block in its cheapest format, or `null` if it stays where it is. */
export function blockOf(text: string, options: BlockOptions, tools: TextTools): Block | null {
  const { blocks, which, chars } = options
  if (text.length < MIN_CHARS || !isSturdy(text)) return null
  if (tools.work?.take(text.length) === false) return null
  if (which !== 'cheaper') return which(text) ? { content: text, format: undefined } : null
  // If a text is most of the JSON, the price of the whole decides.
  const isMost = 2 * text.length > chars
  const json = isMost && beginsLikeJson(text) ? jsonBlock(text, options) : null
  if (json !== null) return json
  if (!isProse(text)) return null
  const { block, tokens } = cheapestText(text, { blocks, named: !isMost }, tools)
  if (isMost) return block
  const inPlace = tools.counter.count(writeJson(text))
  return tokens() + BLOCK_TOKENS < inPlace ? block : null
}

/**
 * The text in its cheapest format.
 * @param named whether a heading names the format
 */
function cheapestText(
  text: string,
  { blocks, named }: { readonly blocks: readonly TextFormat[]; readonly named: boolean },
  tools: TextTools,
): PricedBlock {
  const { counter } = tools
  const written = innerTexts(text, blocks, tools)
  let best = cheapestOf(written, named, tools)
  while (best !== undefined && counter.countUpTo(text, best.price) > best.price) {
    const { inner, count } = best
    if (inner.restores()) return { block: blockIn(inner), tokens: () => count }
    written.splice(written.indexOf(inner), 1)
    best = cheapestOf(written, named, tools)
  }
  return { block: { content: text, format: undefined }, tokens: lazily(() => counter.count(text)) }
}

/** The first one of those with the fewest tokens. No other one is counted further than that. */
function cheapestOf<Inner extends InnerText>(
  written: readonly Inner[],
  named: boolean,
  { counter, reading }: TextTools,
): PricedInner<Inner> | undefined {
  let best: PricedInner<Inner> | undefined
  for (const inner of written) {
    const text = named ? inner.content + inner.format : inner.content
    const least = best === undefined ? Number.POSITIVE_INFINITY : best.price
    const count = counter.countUpTo(text, least - 1)
    if (count >= least) continue
    const { uses } = inner
    const price = reading && uses ? count + readingPrice(reading, uses, count) : count
    if (price < least) best = { inner, count, price }
  }
  return best
}

interface PricedInner<Inner> {
  readonly inner: Inner
  readonly count: number
  /** With what it costs its reader. */
  readonly price: number
}

function blockIn({ content, format, uses }: InnerText): Block {
  return { content, format, ...(uses && { uses }) }
}

function lazily(count: () => number): () => number {
  let counted: number | undefined
  return () => {
    counted ??= count()
    return counted
  }
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
  return json.length >= MIN_CHARS && json.includes('\\"') && INNER_JSON.test(json)
}
