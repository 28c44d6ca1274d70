import { typedText } from '../../../base/typed-text.ts'
import {
  ASTERISK,
  BACKTICK,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  CLOSE_PARENTHESIS,
  COLON,
  DIGIT_0,
  DIGIT_9,
  DOT,
  LINE_FEED,
  OPEN_BRACE,
  OPEN_BRACKET,
  OPEN_PARENTHESIS,
  QUOTE,
  SPACE,
} from '../../../json/char-codes.ts'
import { DEFAULT_MAX_DEPTH } from '../../../json/parse-json.ts'
import type { NumberLiteral, ObjectValue } from '../../../json/value.ts'
import { readLiteral } from '../../bare-text.ts'
import { notDecodable } from '../../not-decodable.ts'
import { LONGEST_FENCE } from './syntax.ts'

/**
 * Cells, and constants of rows, that a text may represent: a fixed number, and more for each of its
 * characters.
 */
const FREE_CELLS = 4_000_000
const CELLS_PER_CHAR = 32

const ASCII = 128

/**
 * The ASCII characters that end a bare text: 1 at their code units. A table, since a function that
 * is called for each character takes longer than everything else here.
 */
export type Ends = Uint8Array

/** These characters and the line feed. */
export function endsOf(...codes: readonly number[]): Ends {
  const ends = new Uint8Array(ASCII)
  for (const code of [LINE_FEED, ...codes]) ends[code] = 1
  return ends
}

/**
 * A place in the text, which moves as the text is read. Every failure is
 * `AppError('not_decodable')`.
 */
export class Reader {
  readonly text: string
  at = 0
  /** Characters of JSON texts that the text may represent. */
  charsLeft: number
  /**
   * Reads the object at the place if it is written in a declared shape.
   * @param depth containers around it
   */
  readShaped: ((depth: number) => ObjectValue | undefined) | null = null
  #cellsLeft: number

  constructor(text: string) {
    this.text = text
    this.charsLeft = FREE_CELLS + CELLS_PER_CHAR * text.length
    this.#cellsLeft = FREE_CELLS + CELLS_PER_CHAR * text.length
  }

  error(reason: string, offset = this.at): Error {
    return notDecodable(this.text, offset, reason)
  }

  /** The code unit at the place, `NaN` at the end. */
  get next(): number {
    return typedText(this.text).charCodeAt(this.at)
  }

  get atLineEnd(): boolean {
    return this.at >= this.text.length || this.next === LINE_FEED
  }

  /** Moves over `c` if it is there. */
  skip(c: number): boolean {
    if (this.next !== c) return false
    this.at++
    return true
  }

  expect(c: number, what: string): void {
    if (!this.skip(c)) throw this.error(`${what} expected`)
  }

  /** Moves over the end of the line; at the end of the text nothing is left to move over. */
  endLine(): void {
    if (this.at < this.text.length && !this.skip(LINE_FEED)) throw this.error('a line end expected')
  }

  /** Moves over a line feed that must be there. */
  newLine(): void {
    this.expect(LINE_FEED, 'another line')
  }

  /** Whether a value that lies `depth` containers deep may hold others. */
  checkDepth(depth: number): void {
    if (depth >= DEFAULT_MAX_DEPTH) throw this.error('nested too deeply')
  }

  /** Counts a cell that the text does not have to spell out. */
  countCell(): void {
    if (--this.#cellsLeft < 0) throw this.error('too many cells for a text of this length')
  }

  /** The string literal whose quote is at the place. */
  quoted(): string {
    const text = typedText(this.text)
    const start = this.at
    let escaped = false
    let at = start + 1
    for (; ; at++) {
      const c = text.charCodeAt(at)
      if (c === QUOTE) break
      if (c === 0x5c) {
        escaped = true
        at++
      } else if (!(c >= SPACE)) throw this.error('a quote that is not closed', start)
    }
    this.at = at + 1
    if (!escaped) return text.slice(start + 1, at)
    try {
      return JSON.parse(text.slice(start, at + 1)) as string
    } catch {
      throw this.error('an escape that JSON does not know', start)
    }
  }

  /** Reads the rest of the line. */
  restOfLine(): string {
    const text = typedText(this.text)
    const start = this.at
    const end = text.indexOf('\n', start)
    this.at = end === -1 ? text.length : end
    return text.slice(start, this.at)
  }

  /** The bare characters up to one of these ends, a line feed, or the end of the text. */
  bare(ends: Ends): string {
    const text = typedText(this.text)
    const start = this.at
    let at = start
    for (; at < text.length; at++) {
      const c = text.charCodeAt(at)
      if (c < ASCII && ends[c] === 1) break
    }
    this.at = at
    return text.slice(start, at)
  }
}

/** The meaning of a bare text if any value is allowed. */
export function bareValue(text: string): string | number | boolean | null | NumberLiteral {
  const literal = readLiteral(text, 0, text.length)
  return literal === undefined ? text : literal
}

/**
 * The lines between the fence at the place and the next line that is the same fence; moves after
 * it.
 */
export function readFence(reader: Reader): string {
  const { text } = reader
  const start = reader.at
  while (reader.skip(BACKTICK));
  if (reader.at - start > LONGEST_FENCE) throw reader.error('a shorter fence expected', start)
  const fence = `\n${text.slice(start, reader.at)}`
  reader.newLine()
  const from = reader.at
  for (let at = text.indexOf(fence, from - 1); at !== -1; at = text.indexOf(fence, at + 1)) {
    const end = at + fence.length
    if (end < text.length && text.charCodeAt(end) !== LINE_FEED) continue
    reader.at = end
    return text.slice(from, Math.max(at, from))
  }
  throw reader.error('a fence that is not closed', start)
}

/** The ends of the bare key of a line. */
export const KEY_ENDS = endsOf(
  COLON,
  DOT,
  OPEN_PARENTHESIS,
  QUOTE,
  OPEN_BRACKET,
  OPEN_BRACE,
  CLOSE_BRACKET,
  CLOSE_BRACE,
)

/** The end of the bare prefix of a run. */
export const PREFIX_ENDS = endsOf(ASTERISK)

/** The ends of the word in a key's mark. */
export const MARK_ENDS = endsOf(SPACE, CLOSE_PARENTHESIS)

/** Whether `c` is an ASCII digit. */
export function isDigit(c: number): boolean {
  return c >= DIGIT_0 && c <= DIGIT_9
}

/** Whether the item at the reader's place begins with a key. */
export function beginsWithKey(reader: Reader): boolean {
  const start = reader.at
  if (reader.next === QUOTE) {
    reader.quoted()
    const is = !reader.atLineEnd
    reader.at = start
    return is
  }
  const { text } = reader
  if (text.startsWith('```', start)) return false
  let at = start
  for (; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if (c === COLON || c === LINE_FEED) break
  }
  return text.charCodeAt(at) === COLON
}
