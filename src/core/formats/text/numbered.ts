import {
  type LineGutter,
  printNumber,
  readLineGutter,
  SEPARATORS,
} from '../gutter/numbered-lines.ts'
import { decodedTooLong, notDecodable } from '../not-decodable.ts'
import type { TextFormat, WrittenText } from './text-format.ts'

/**
 * A numbered file read with a number on the first line and on every fifth. A gutter costs three to
 * four tokens a line, more than a quarter of a typical read. With every fifth number, a reader is
 * at most two lines from a number. Every tenth would save one percent more.
 */
export const numbered: TextFormat = {
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
/** Fewest lines of a block; a shorter one saves nothing. */
const MIN_BLOCK_LINES = 3

/** The separator between number and line is the style. Each of them exists in an agent in use. */
const GUTTERS = ['arrow', 'tab', 'colon'] as const
type GutterStyle = (typeof GUTTERS)[number]
/**
 * Two lines with a number and a colon. They have no shape of their own, since matches of a search
 * look the same.
 */
const COLON_LINES = /\n\d{1,9}:.*\n\d{1,9}:/

function encode(text: string, style: GutterStyle): WrittenText | null {
  const separator = SEPARATORS[style]
  const out: string[] = []
  let block: LineGutter | null = null
  let next = 0
  let longest = 0
  let length = 0
  for (const line of text.split('\n')) {
    const gutter = readLineGutter(line, separator)
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
      // This content would end the block early.
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
  let block: LineGutter | null = null
  let next = 0
  let at = 0
  let length = 0
  for (const line of content.split('\n')) {
    let decoded: string | null = line
    if (block === null) {
      block = readLineGutter(line, separator)
      next = (block?.number ?? 0) + 1
    } else if (line === BLOCK_END) {
      block = null
      decoded = null
    } else {
      const shown = next % NUMBER_EVERY === 0 ? `${next}${separator}` : ''
      if (!line.startsWith(shown)) throw notDecodable(content, at, `the number ${next} expected`)
      decoded = printNumber(block, next) + separator + line.slice(shown.length)
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

/** Whether the block's next line must have this gutter. */
function continues(block: LineGutter, next: number, gutter: LineGutter): boolean {
  return gutter.number === next && gutter.width === printNumber(block, next).length
}

function isGutterStyle(style: string): style is GutterStyle {
  return GUTTERS.some(known => known === style)
}
