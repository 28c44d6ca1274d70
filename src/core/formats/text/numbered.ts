import { DIGIT_0, DIGIT_9, SPACE } from '../../json/char-codes.ts'
import { notDecodable } from '../not-decodable.ts'
import { decodedTooLong } from './decoded-length.ts'
import type { TextNotation, WrittenText } from './text-format.ts'

/**
 * A numbered file read with a number on the first line and on every fifth. A gutter costs three to
 * four tokens a line, more than a quarter of a typical read. With every fifth number left a reader
 * is at most two lines from one; every tenth would save one percent more.
 */
export const numbered: TextNotation = {
  id: 'numbered',
  version: 1,
  accepts: (text, { shape, inner_formats }) =>
    shape === 'numbered_list' || inner_formats.includes('numbered_list') || COLON_LINES.test(text),
  encode: text => GUTTERS.map(style => encode(text, style)).filter(written => written !== null),
  decode,
}

/** Lines whose number is a multiple of it keep it. */
const NUMBER_EVERY = 5
/** A line by itself that ends a block before the text does. */
const BLOCK_END = '→'
/**
 * Longest gutter in characters, so that a decoded text is at most a fixed number of times longer.
 */
const MAX_GUTTER = 12
/** Fewest lines of a block; a shorter one saves nothing. */
const MIN_BLOCK_LINES = 3

/** The separator between number and line is the style: each exists in an agent in use. */
const SEPARATORS = { arrow: '→', tab: '\t', colon: ':' } as const
type GutterStyle = keyof typeof SEPARATORS
const GUTTERS: readonly GutterStyle[] = ['arrow', 'tab', 'colon']
/**
 * Two lines with a number and a colon; a shape of their own they are not, since matches of a search
 * look the same.
 */
const COLON_LINES = /\n\d{1,9}:.*\n\d{1,9}:/

interface Gutter {
  readonly number: number
  /** Characters up to and with the last digit. */
  readonly width: number
  readonly padded: boolean
}

function encode(text: string, style: GutterStyle): WrittenText | null {
  const separator = SEPARATORS[style]
  const out: string[] = []
  let block: Gutter | null = null
  let next = 0
  let longest = 0
  let length = 0
  for (const line of text.split('\n')) {
    const gutter = readGutter(line, separator)
    if (block !== null && (gutter === null || !continues(block, next, gutter))) {
      out.push(BLOCK_END)
      block = null
    }
    if (gutter === null) out.push(line)
    else if (block === null) {
      block = gutter
      next = gutter.number + 1
      length = 1
      out.push(line)
    } else {
      const isAnchor = next % NUMBER_EVERY === 0
      const rest = line.slice(gutter.width + 1)
      // The one content that would end the block early.
      if (!isAnchor && rest === BLOCK_END) return null
      out.push(isAnchor ? `${next}${separator}${rest}` : rest)
      next++
      longest = Math.max(longest, ++length)
    }
  }
  return longest < MIN_BLOCK_LINES ? null : { content: out.join('\n'), style }
}

function decode(content: string, style: string, maxChars: number): string {
  const separator = isGutterStyle(style) ? SEPARATORS[style] : null
  if (separator === null) throw notDecodable(content, 0, 'no known style of numbers')
  const out: string[] = []
  let block: Gutter | null = null
  let next = 0
  let at = 0
  let length = 0
  for (const line of content.split('\n')) {
    let decoded: string | null = line
    if (block === null) {
      block = readGutter(line, separator)
      next = (block?.number ?? 0) + 1
    } else if (line === BLOCK_END) {
      block = null
      decoded = null
    } else {
      const shown = next % NUMBER_EVERY === 0 ? `${next}${separator}` : ''
      if (!line.startsWith(shown)) throw notDecodable(content, at, `the number ${next} expected`)
      decoded = gutterOf(block, next) + separator + line.slice(shown.length)
      next++
    }
    at += line.length + 1
    if (decoded === null) continue
    length += decoded.length + 1
    if (length - 1 > maxChars) throw decodedTooLong(maxChars)
    out.push(decoded)
  }
  return out.join('\n')
}

/** Whether `gutter` is what the block's next line must have. */
function continues(block: Gutter, next: number, gutter: Gutter): boolean {
  return gutter.number === next && gutter.width === gutterOf(block, next).length
}

/**
 * Numbers are right-aligned to the first one's width if that had spaces before it, else not at all.
 */
function gutterOf(block: Gutter, number: number): string {
  const digits = String(number)
  return block.padded ? digits.padStart(block.width) : digits
}

/** The gutter of a line: spaces, a number, the separator. */
function readGutter(line: string, separator: string): Gutter | null {
  let first = 0
  while (first < MAX_GUTTER && line.charCodeAt(first) === SPACE) first++
  let end = first
  let number = 0
  for (; end < MAX_GUTTER; end++) {
    const c = line.charCodeAt(end)
    if (!(c >= DIGIT_0 && c <= DIGIT_9)) break
    number = number * 10 + (c - DIGIT_0)
  }
  if (end === first || line[end] !== separator) return null
  return { number, width: end, padded: first > 0 }
}

function isGutterStyle(style: string): style is GutterStyle {
  return Object.hasOwn(SEPARATORS, style)
}
