import { parseJson } from '../json/parse-json.ts'
import { NumberLiteral } from '../json/value.ts'
import { CUT_MARK, type Scalar, type Shown } from './text-slot.ts'
import { type Json, MAX_DEPTH, type ToolCall } from './tool-call.ts'

const BARE = /[A-Za-z0-9_./$~@%+?&#!-]+/y
const WORD = /[A-Za-z][A-Za-z_-]*/y
const QUOTED = /"(?:[^"\\]|\\.)*"/y
const PATH = /\$(?:\.[A-Za-z_][A-Za-z0-9_]*|\[[-\d:]*\])+(?![A-Za-z0-9_./$~@%+?&#!-])/y
const LINES = /lines [1-9]\d{0,14}-[1-9]\d{0,14}/y
const NUMBER = /-?\d[0-9.eE+-]*/y
const LITERAL = /(?:true|false|null|NaN|-?Infinity)(?![A-Za-z0-9_./$~@%+?&#!-])/y
const COUNT = /(?:0|[1-9]\d{0,15})(?![0-9.])/y
const HEX = /[0-9a-f]{8,64}/y

/**
 * Reads the inside of a hint from left to right. A method that finds nothing returns `undefined`
 * (or false) and does not move. It may accept more than we write, because `parseHint` compares its
 * result with the text that would have been written.
 */
export class HintReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get atEnd(): boolean {
    return this.#at === this.#text.length
  }

  /** Steps over these characters if they come next. */
  skip(literal: string): boolean {
    const found = this.#text.startsWith(literal, this.#at)
    if (found) this.#at += literal.length
    return found
  }

  /** A whole number from 0 that a double holds. */
  count(): number | undefined {
    const digits = this.match(COUNT)
    return digits === undefined || !Number.isSafeInteger(Number(digits))
      ? undefined
      : Number(digits)
  }

  /** 8 to 64 lower-case hexadecimal digits. */
  hex(): string | undefined {
    return this.match(HEX)
  }

  /** Reads what `writeText` wrote. */
  text(): string | undefined {
    const quoted = this.match(QUOTED)
    return quoted === undefined ? this.match(BARE) : (fromJson(quoted) as string | undefined)
  }

  /** Reads what `writeWord` wrote. */
  word(): string | undefined {
    const quoted = this.match(QUOTED)
    return quoted === undefined ? this.match(WORD) : (fromJson(quoted) as string | undefined)
  }

  /** Reads what `writePlace` wrote. */
  place(): string | undefined {
    return this.match(LINES) ?? this.match(PATH) ?? this.text()
  }

  /** Reads what `writeShown` wrote. */
  shown(): Shown | undefined {
    const tail = this.skip(CUT_MARK)
    const text = this.text()
    if (text === undefined) return undefined
    if (tail) return { end: text }
    return this.skip(CUT_MARK) ? { start: text } : text
  }

  /** Reads what `writeScalar` wrote. */
  scalar(): Scalar | undefined {
    const number = this.match(NUMBER) ?? this.match(LITERAL)
    if (number === undefined) return this.text()
    const parsed = parseJson(number)
    if (!parsed.ok) return undefined
    const { value } = parsed
    return value instanceof NumberLiteral || typeof value !== 'object' ? value : null
  }

  /** A JSON value, as `JSON.parse` reads it. */
  json(): Json | undefined {
    const parsed = parseJson(this.#text, { start: this.#at, prefix: true, maxDepth: MAX_DEPTH })
    if (!parsed.ok) return undefined
    const text = this.#text.slice(this.#at, parsed.end)
    this.#at = parsed.end
    return fromJson(text) as Json | undefined
  }

  /** Reads the text that a sticky expression matches here. */
  match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }
}

/** Returns `undefined` for `NaN`, and for a text that is not JSON. */
function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Reads what `writeToolCall` wrote; numbers only as doubles keep them.
 * @param other another opening that the call may have, tried first; `afterOther` is true if the
 * call has it
 */
export function readToolCall(
  reader: HintReader,
  other?: string,
): { call: ToolCall; afterOther: boolean } | null {
  const name = reader.text()
  const afterOther = other !== undefined && reader.skip(other)
  if (name === undefined || !(afterOther || reader.skip('('))) return null
  const args: [string, Json][] = []
  while (!reader.skip(')')) {
    if (args.length > 0 && !reader.skip(', ')) return null
    const argument = reader.text()
    const value = argument !== undefined && reader.skip('=') ? reader.json() : undefined
    if (argument === undefined || value === undefined) return null
    args.push([argument, value])
  }
  return { call: { name, args: Object.fromEntries(args) }, afterOther }
}
