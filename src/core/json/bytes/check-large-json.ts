import { isUtf8 } from 'node:buffer'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../char-codes.ts'
import { type CheckedJson, checkedJson, LARGE_BYTES, noteChecked } from './checked-json.ts'
import type { JsonBytes } from './json-node.ts'
import { byteAt, endOfScalar, endOfString, NO_BYTE, skipSpace } from './json-tokens.ts'

/** What is checked before the thread does other work; the slowest content takes some 10 ms. */
export const PART_BYTES = 256 * 1024
/** Members of an object in which names are looked for. Each look passes over all of them. */
const MOST_MEMBERS = 256
/** Shorter values are passed over byte by byte again. */
const SHORTEST_BYTES = 256
/** Values that lie deeper are not noted. */
const NOTED_DEPTH = 8
const MAX_DEPTH = 10_000

/**
 * Checks a large JSON text in parts, between which the thread does other work. What reads it
 * afterwards passes over its values without looking at them. Small texts are left alone. The bytes
 * must not change any more. Never rejects.
 */
export async function checkLargeJson(text: JsonBytes): Promise<void> {
  if (text.length <= LARGE_BYTES || checkedJson(text) !== undefined) return
  const check = new JsonCheck(text)
  do await nextTurn()
  while (!check.step())
  noteChecked(text, check)
}

let lastTurn: Promise<void> = Promise.resolve()

/** One part of all that is gone through goes into a turn of the event loop. */
export function nextTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise(resolve => setImmediate(resolve)))
  return lastTurn
}

/** A container around the current place. */
interface OpenContainer {
  readonly start: number
  readonly closer: number
  members: number
}

class JsonCheck implements CheckedJson {
  readonly ends = new Map<number, number>()
  readonly wide = new Set<number>()
  isFaulty = false
  readonly #text: JsonBytes
  readonly #offset: number
  readonly #open: OpenContainer[] = []
  #at = 0

  constructor(text: JsonBytes) {
    this.#text = text
    this.#offset = text.byteOffset
    this.isFaulty = !isUtf8(text)
  }

  /** Checks the next part. @returns whether it was the last */
  step(): boolean {
    const until = this.#at + PART_BYTES
    while (!this.isFaulty && this.#at < until) {
      const isRight = this.#value()
      if (isRight && this.#open.length > 0) continue
      this.isFaulty = !isRight || this.#space() !== NO_BYTE
      return true
    }
    return this.isFaulty
  }

  /** Reads a scalar or an opening bracket, and the punctuation after it. @returns whether it can */
  #value(): boolean {
    const c = this.#space()
    const start = this.#at
    if (c === OPEN_BRACE || c === OPEN_BRACKET) {
      const closer = c === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET
      this.#open.push({ start, closer, members: 0 })
      this.#at++
      if (this.#open.length > MAX_DEPTH) return false
      if (this.#space() !== closer) return c !== OPEN_BRACE || this.#member()
    } else if (!this.#scalar(c)) return false
    else this.#note(start)
    return this.#close()
  }

  /** After a value: out of every container that ends here, and to the next value. */
  #close(): boolean {
    for (let inner = this.#open.at(-1); inner !== undefined; inner = this.#open.at(-1)) {
      const c = this.#space()
      if (c === COMMA) {
        this.#at++
        return inner.closer !== CLOSE_BRACE || this.#member()
      }
      if (c !== inner.closer) return false
      this.#at++
      this.#open.pop()
      this.#note(inner.start)
      if (inner.members > MOST_MEMBERS && this.ends.has(this.#offset + inner.start)) {
        this.wide.add(this.#offset + inner.start)
      }
    }
    return true
  }

  /** Reads a key and its colon. */
  #member(): boolean {
    const inner = this.#open.at(-1) as OpenContainer
    inner.members++
    if (this.#space() !== QUOTE || !this.#scalar(QUOTE) || this.#space() !== COLON) return false
    this.#at++
    return true
  }

  #scalar(first: number): boolean {
    const read = first === QUOTE ? endOfString : endOfScalar
    const end = read(this.#text, this.#at)
    if (end !== -1) this.#at = end
    return end !== -1
  }

  #note(start: number): void {
    if (this.#open.length > NOTED_DEPTH || this.#at - start < SHORTEST_BYTES) return
    this.ends.set(this.#offset + start, this.#offset + this.#at)
  }

  #space(): number {
    this.#at = skipSpace(this.#text, this.#at)
    return byteAt(this.#text, this.#at)
  }
}
