import { typedText } from '../base/typed-text.ts'
import {
  BACKSLASH,
  CARRIAGE_RETURN,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  LINE_FEED,
  LOWER_F,
  LOWER_N,
  LOWER_T,
  LOWER_U,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  SPACE,
  TAB,
} from './char-codes.ts'
import { nonFiniteAt, parseNumber } from './parse-number.ts'
import { isHexDigit, SHORT_ESCAPES } from './text-tokens.ts'
import { ObjectValue, type Value } from './value.ts'

/**
 * Nesting accepted where nothing else is configured, and what decoders accept. Real payloads stay
 * under 30; nothing here recurses, so the limit is there for those who must, and for readers of the
 * answer.
 */
export const DEFAULT_MAX_DEPTH = 512

/** How `parseJson` reads a text. */
export interface ParseJsonOptions {
  /** Levels of nesting accepted; a scalar is 0, `[]` is 1, `[[]]` is 2. */
  readonly maxDepth?: number
  /** Where the value starts in the text; white space may come before it. */
  readonly start?: number
  /** Accept any text after the value; `end` is where that begins. */
  readonly prefix?: boolean
}

/** A parsed value, or where and why there is none. Offsets count UTF-16 code units. */
export type JsonParse =
  | {
      readonly ok: true
      readonly value: Value
      /** Levels of nesting: 0 for a scalar. */
      readonly depth: number
      /** The offset after the value's last character. */
      readonly end: number
      /** Whether the text is what `writeJson` writes of the value; `false` also if not known. */
      readonly compact: boolean
    }
  | { readonly ok: false; readonly reason: 'syntax' | 'depth'; readonly offset: number }

/**
 * Parses one JSON text (RFC 8259, and `NaN`, `Infinity` and `-Infinity`, which Python writes; no
 * BOM, no comments) into the value model. Linear, and without recursion, so that no input can
 * overflow the stack.
 */
export function parseJson(text: string, options: ParseJsonOptions = {}): JsonParse {
  const scanner = new JsonScanner(text, options.start ?? 0, options.maxDepth ?? DEFAULT_MAX_DEPTH)
  const value = scanner.value()
  if (value === undefined) {
    return { ok: false, reason: scanner.tooDeep ? 'depth' : 'syntax', offset: scanner.at }
  }
  const end = scanner.at
  if (options.prefix !== true) {
    scanner.skipSpace()
    if (scanner.at < text.length) return { ok: false, reason: 'syntax', offset: scanner.at }
  }
  // Lone surrogates are written with escapes.
  const compact = scanner.plain && end === text.length && text.isWellFormed()
  return { ok: true, value, depth: scanner.depth, end, compact }
}

/**
 * Distinct first keys whose object is remembered; more would cost memory on texts that repeat
 * nothing.
 */
const MAX_KNOWN_OBJECTS = 1024

/** An object or array whose end is still ahead. */
class OpenContainer {
  readonly values: Value[] = []
  /** Keys so far, not kept while `known` represents them; `null` in an array. */
  keys: string[] | null
  /** The keys of an earlier object, as long as this one repeats them in order. */
  known: readonly string[] | null = null
  /** No key so far was written with an escape. */
  plain = true

  constructor(keys: string[] | null) {
    this.keys = keys
  }
}

class JsonScanner {
  at: number
  /** Deepest nesting met. */
  depth = 0
  tooDeep = false
  /** No white space was met, and no escape. */
  plain = true
  readonly #text: string
  readonly #maxDepth: number
  readonly #open: OpenContainer[] = []
  /**
   * Objects met, by first key. Lists repeat their keys thousands of times; comparing with the last
   * time is cheaper than cutting each key out again, and equal objects then share one `keys` array,
   * which saves memory and lets an encoder see at once that two rows have the same columns. Made
   * for the first object: many short texts hold none.
   */
  #known: Map<string, readonly string[]> | null = null
  #escaped = false

  constructor(text: string, start: number, maxDepth: number) {
    this.#text = text
    this.at = start
    this.#maxDepth = maxDepth
  }

  /**
   * The value at `at`, which moves after it; `undefined` if there is none, and `at` is
   * then on the fault.
   */
  value(): Value | undefined {
    const open = this.#open
    for (;;) {
      let value: Value | undefined
      const c = this.skipSpace()
      if (c === OPEN_BRACE || c === OPEN_BRACKET) {
        const container = this.#enter(c)
        if (container === undefined) return undefined
        const closer = c === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET
        if (this.skipSpace() === closer) {
          this.at++
          value = this.#leave()
        } else if (c === OPEN_BRACE && !this.#key(container)) return undefined
        else continue
      } else value = this.#scalar(c)
      if (value === undefined) return undefined

      // A value has ended: put it in its container, and close every container that ends with it.
      for (;;) {
        const container = open[open.length - 1]
        if (container === undefined) return value
        container.values.push(value)
        const next = this.skipSpace()
        if (next === COMMA) {
          this.at++
          if (container.keys === null) break
          this.skipSpace()
          if (!this.#key(container)) return undefined
          break
        }
        if (next !== (container.keys === null ? CLOSE_BRACKET : CLOSE_BRACE)) return undefined
        this.at++
        value = this.#leave()
      }
    }
  }

  /** Moves over white space; gives the code unit there, `NaN` at the end. */
  skipSpace(): number {
    const text = typedText(this.#text)
    let at = this.at
    let c = text.charCodeAt(at)
    // Written out: a call here costs the parser a twentieth of its pace.
    while (c === SPACE || c === LINE_FEED || c === CARRIAGE_RETURN || c === TAB) {
      c = text.charCodeAt(++at)
    }
    if (at !== this.at) this.plain = false
    this.at = at
    return c
  }

  #enter(opener: number): OpenContainer | undefined {
    if (this.#open.length >= this.#maxDepth) {
      this.tooDeep = true
      return undefined
    }
    this.at++
    const container = new OpenContainer(opener === OPEN_BRACE ? [] : null)
    if (this.#open.push(container) > this.depth) this.depth = this.#open.length
    return container
  }

  /** The innermost container as a value. */
  #leave(): Value {
    const { keys, known, values, plain } = this.#open.pop()!
    if (keys === null) return values
    if (known !== null) {
      return new ObjectValue(
        known.length === values.length ? known : known.slice(0, values.length),
        values,
      )
    }
    const first = keys[0]
    if (plain && first !== undefined) {
      this.#known ??= new Map()
      if (this.#known.size < MAX_KNOWN_OBJECTS) this.#known.set(first, keys)
    }
    return new ObjectValue(keys, values)
  }

  /** Reads a key and its colon into `container`; `false` if there is none. */
  #key(container: OpenContainer): boolean {
    const text = typedText(this.#text)
    if (text.charCodeAt(this.at) !== QUOTE) return false
    const { known } = container
    const index = container.values.length
    const expected = known?.[index]
    const end = expected === undefined ? 0 : this.at + 1 + expected.length
    if (
      expected !== undefined &&
      text.charCodeAt(end) === QUOTE &&
      text.startsWith(expected, this.at + 1)
    ) {
      this.at = end + 1
    } else {
      if (known !== null) {
        container.keys = known.slice(0, index)
        container.known = null
      }
      const key = this.#string()
      if (key === undefined) return false
      container.plain &&= !this.#escaped
      if (index === 0 && !this.#escaped) container.known = this.#known?.get(key) ?? null
      container.keys!.push(key)
    }
    if (this.skipSpace() !== COLON) return false
    this.at++
    return true
  }

  #scalar(c: number): Value | undefined {
    if (c === QUOTE) return this.#string()
    if (c === LOWER_T) return this.#literal('true', true)
    if (c === LOWER_F) return this.#literal('false', false)
    if (c === LOWER_N) return this.#literal('null', null)
    const text = typedText(this.#text)
    const start = this.at
    let end = start
    while (isNumberPart(text.charCodeAt(end))) end++
    const number = parseNumber(text, start, end)
    if (number !== undefined) {
      this.at = end
      return number
    }
    const nonFinite = nonFiniteAt(text, start)
    this.at += nonFinite?.text.length ?? 0
    return nonFinite
  }

  #literal<T extends Value>(word: string, value: T): T | undefined {
    if (!this.#text.startsWith(word, this.at)) return undefined
    this.at += word.length
    return value
  }

  /** The closing quote of the string that `at` is in, or its fault. */
  #endOfLong(at: number): number {
    const text = this.#text
    let end = endOf(PLAIN, text, at)
    if (text.charCodeAt(end) !== BACKSLASH) return end
    for (let next = endOf(BODY, text, end); next > end; next = endOf(BODY, text, end)) {
      this.#escaped = true
      this.plain = false
      end = next
    }
    return end
  }

  /** The string whose opening quote is at `at`; `undefined` with `at` on the fault. */
  #string(): string | undefined {
    const text = typedText(this.#text)
    const start = this.at + 1
    let at = start
    this.#escaped = false
    for (;;) {
      // Most strings are short. A regular expression starts slowly, and is faster then.
      if (at - start > SHORT) at = this.#endOfLong(at)
      const c = text.charCodeAt(at)
      if (c === QUOTE) break
      if (c === BACKSLASH) {
        this.#escaped = true
        this.plain = false
        const length = escapeLength(text, at)
        if (length === 0) {
          this.at = at
          return undefined
        }
        at += length
      } else if (c >= SPACE) at++
      else {
        // A control character, or NaN at the end of the text.
        this.at = at
        return undefined
      }
    }
    this.at = at + 1
    // The literal is checked already, so the built-in parser cannot throw; it is faster at escapes.
    return this.#escaped
      ? (JSON.parse(text.slice(start - 1, at + 1)) as string)
      : text.slice(start, at)
  }
}

/** Longer strings are read by regular expressions. */
const SHORT = 32
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must be found
const PLAIN = /[^"\\\u0000-\u001f]*/y
/** Bounded, since each repetition takes memory. */
const BODY =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must be found
  /(?:[^"\\\u0000-\u001f]+|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})){0,512}/y

/** The characters that follow a backslash, as code units; `u` and its four digits come on top. */
const ESCAPES: ReadonlySet<number> = new Set([...SHORT_ESCAPES].map(c => c.charCodeAt(0)))

/** Length of the escape at `at`, 0 if it is none. */
function escapeLength(text: string, at: number): number {
  const c = text.charCodeAt(at + 1)
  if (c !== LOWER_U) return ESCAPES.has(c) ? 2 : 0
  for (let i = at + 2; i < at + 6; i++) if (!isHexDigit(text.charCodeAt(i))) return 0
  return 6
}

/** Where a pattern that begins at `at`, and matches always, ends. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  pattern.test(text)
  return pattern.lastIndex
}

/** A digit, or one of `+ - . e E`. Literals, since imported names cost long numbers a tenth. */
function isNumberPart(c: number): boolean {
  return (
    (c >= 0x30 && c <= 0x39) || c === 0x2e || c === 0x2d || c === 0x65 || c === 0x45 || c === 0x2b
  )
}
