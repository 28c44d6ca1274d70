import { TAB } from '../../json/char-codes.ts'
import {
  digitsOf,
  gutterSeparator,
  isPrinted,
  type LineGutter,
  type NumberLayout,
  printedWidth,
  printNumber,
  readLineGutter,
  SEPARATORS,
} from '../gutter/numbered-lines.ts'
import { decodedTooLong, notDecodable } from '../not-decodable.ts'
import { readsAsSource } from './source-text.ts'
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
  // Tables in source begin with numbers too.
  encode: text =>
    (readsAsSource(text) ? [] : guttersIn(text)).flatMap(style => encode(text, style) ?? []),
  decode,
  restores,
}

/** Lines whose number is a multiple of it keep it. */
const NUMBER_EVERY = 5
/** A line by itself that ends a block before the text does. */
const BLOCK_END = '→ end'
/** A line that refers to earlier lines, or says which are left out, ends a block by itself. */
const REFERENCE = '> ['
const GAP = '[… line'
const BLOCK_END_LINE = `${BLOCK_END}\n`
/** Fewest lines of a block; a shorter one saves nothing. */
const MIN_BLOCK_LINES = 3

/** Columns of a row with its number. */
const FEWEST_CELLS = 3

/** The separator between number and line is the style. Each of them exists in an agent in use. */
const GUTTERS = ['arrow', 'tab', 'colon'] as const
type GutterStyle = (typeof GUTTERS)[number]
const GUTTER_OF = new Map(GUTTERS.map(style => [SEPARATORS[style].charCodeAt(0), style]))
/**
 * Two lines with a number and a colon. They have no shape of their own, since matches of a search
 * look the same.
 */
const COLON_LINES = /\n\d{1,9}:.*\n\d{1,9}:/

/** The styles of which enough lines have a gutter. */
function guttersIn(text: string): readonly GutterStyle[] {
  const lines = { arrow: 0, tab: 0, colon: 0 }
  for (let start = 0; start <= text.length; start = lineEnd(text, start) + 1) {
    const style = GUTTER_OF.get(gutterSeparator(text, start))
    if (style !== undefined) lines[style]++
  }
  return GUTTERS.filter(style => lines[style] >= MIN_BLOCK_LINES)
}

/**
 * Whether numbers before tabs are the first column of a table, and no gutter: none is padded, and
 * all lines have as many further columns.
 */
function isTable(text: string): boolean {
  let columns = 0
  for (let start = 0, end = 0; start <= text.length; start = end + 1) {
    end = lineEnd(text, start)
    const gutter = readLineGutter(text, start, end, TAB)
    if (gutter === null) continue
    if (gutter.width !== digitsOf(gutter.number)) return false
    const cells = text.slice(start, end).split('\t')
    if (cells.length < FEWEST_CELLS || cells[1] === '') return false
    if (columns !== 0 && cells.length !== columns) return false
    columns = cells.length
  }
  return columns !== 0
}

function encode(text: string, style: GutterStyle): WrittenText | null {
  if (style === 'tab' && isTable(text)) return null
  const separator = SEPARATORS[style].charCodeAt(0)
  const out: string[] = []
  let block: LineGutter | null = null
  let next = 0
  let longest = 0
  let length = 0
  /** Start of what is not written yet. */
  let from = 0
  for (let start = 0, end = 0; start <= text.length; start = end + 1) {
    end = lineEnd(text, start)
    const gutter = readLineGutter(text, start, end, separator)
    if (block !== null && (gutter === null || !continues(block, next, gutter))) {
      out.push(text.slice(from, start))
      if (!endsByItself(text, start)) out.push(BLOCK_END_LINE)
      from = start
      block = null
    }
    if (gutter === null) continue
    if (block === null) {
      block = gutter
      next = gutter.number + 1
      length = 1
      continue
    }
    const rest = start + gutter.width + 1
    const isAnchor = next % NUMBER_EVERY === 0
    // This content would end the block early.
    if (!isAnchor && (isEnd(text, rest, end) || endsByItself(text, rest))) return null
    out.push(text.slice(from, start))
    from = isAnchor ? rest - 1 - digitsOf(next) : rest
    next++
    longest = Math.max(longest, ++length)
  }
  if (longest < MIN_BLOCK_LINES) return null
  out.push(text.slice(from))
  return { content: out.join(''), style, uses: { numbered: 1 } }
}

/** What takes a decoded text part by part. `false` if the rest need not be decoded. */
interface NumberedParts {
  /** The part `[start, end)` of the encoded text. */
  copy(start: number, end: number): boolean
  /** The number of a line with what is before and after it. */
  number(layout: NumberLayout, number: number, separator: string): boolean
}

function decode(content: string, style: string, maxChars: number): string {
  const out: string[] = []
  decodeTo(content, style, maxChars, {
    copy: (start, end) => out.push(content.slice(start, end)) > 0,
    number: (layout, number, separator) => out.push(printNumber(layout, number), separator) > 0,
  })
  return out.join('')
}

/** Compares while it decodes, so that no text is put together. */
function restores(content: string, style: string, maxChars: number, text: string): boolean {
  /** Characters that are equal so far. */
  let at = 0
  const isWhole = decodeTo(content, style, maxChars, {
    copy(start, end) {
      const from = at
      at += end - start
      return text.slice(from, at) === content.slice(start, end)
    },
    number(layout, number, separator) {
      const from = at
      at += printedWidth(layout, number) + separator.length
      return isPrinted(text, from, layout, number) && text[at - 1] === separator
    },
  })
  return isWhole && at === text.length
}

/** Decodes to parts. Returns `false` if these ended it. */
function decodeTo(content: string, style: string, maxChars: number, parts: NumberedParts): boolean {
  const sign = isGutterStyle(style) ? SEPARATORS[style] : null
  if (sign === null) throw notDecodable(content, 0, 'no known style of numbers')
  const separator = sign.charCodeAt(0)
  let block: LineGutter | null = null
  let next = 0
  let length = 0
  /** Start of what is not written yet. */
  let from = 0
  for (let start = 0, end = 0; start <= content.length; start = end + 1) {
    end = lineEnd(content, start)
    if (block !== null && endsByItself(content, start)) {
      if (!parts.copy(from, start)) return false
      from = start
      block = null
    }
    if (block === null) {
      block = readLineGutter(content, start, end, separator)
      next = (block?.number ?? 0) + 1
      length += end - start + 1
    } else if (isEnd(content, start, end)) {
      block = null
      // The line before it is the last one if this is.
      if (!parts.copy(from, end === content.length ? start - 1 : start)) return false
      from = Math.min(end + 1, content.length)
    } else {
      const shown = next % NUMBER_EVERY === 0 ? next + sign : ''
      if (shown !== '' && !content.startsWith(shown, start)) {
        throw notDecodable(content, start, `the number ${next} expected`)
      }
      if (!parts.copy(from, start) || !parts.number(block, next, sign)) return false
      from = start + shown.length
      length += printedWidth(block, next) + 1 + end - from + 1
      next++
    }
    if (length - 1 > maxChars) throw decodedTooLong(maxChars)
  }
  return parts.copy(from, content.length)
}

function endsByItself(text: string, at: number): boolean {
  return text.startsWith(REFERENCE, at) || text.startsWith(GAP, at)
}

function isEnd(text: string, start: number, end: number): boolean {
  return end - start === BLOCK_END.length && text.startsWith(BLOCK_END, start)
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf('\n', start)
  return end === -1 ? text.length : end
}

/** Whether the block's next line must have this gutter. */
function continues(block: LineGutter, next: number, gutter: LineGutter): boolean {
  return gutter.number === next && gutter.width === printedWidth(block, next)
}

function isGutterStyle(style: string): style is GutterStyle {
  return GUTTERS.some(known => known === style)
}
