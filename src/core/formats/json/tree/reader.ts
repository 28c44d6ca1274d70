import { LINE_FEED, QUOTE, SPACE } from '../../../json/char-codes.ts'
import { DEFAULT_MAX_DEPTH } from '../../../json/parse-json.ts'
import type { NumberLiteral } from '../../../json/value.ts'
import { readLiteral } from '../../bare-text.ts'
import { notDecodable } from '../../not-decodable.ts'

/**
 * Cells, and constants of rows, that a text may represent: some, and more for each of its
 * characters.
 */
const FREE_CELLS = 4_000_000
const CELLS_PER_CHAR = 32

/**
 * A place in the text that moves on as it is read. Every failure is `AppError('not_decodable')`.
 */
export class Reader {
  readonly text: string
  at = 0
  /** Characters of JSON texts that the text may represent. */
  charsLeft: number
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
    return this.text.charCodeAt(this.at)
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

  /** Accounts for a cell that the text need not spell out. */
  countCell(): void {
    if (--this.#cellsLeft < 0) throw this.error('too many cells for a text of this length')
  }

  /** The string literal whose quote is at the place. */
  quoted(): string {
    const { text } = this
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

  /** What is left of the line. */
  restOfLine(): string {
    const { text } = this
    const start = this.at
    const end = text.indexOf('\n', start)
    this.at = end === -1 ? text.length : end
    return text.slice(start, this.at)
  }

  /** The bare characters up to one that `ends`, a line feed, or the end of the text. */
  bare(ends: (c: number) => boolean): string {
    const { text } = this
    const start = this.at
    let at = start
    for (; at < text.length; at++) {
      const c = text.charCodeAt(at)
      if (c === LINE_FEED || ends(c)) break
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
