import {
  endOfNonFinite,
  endOfScalar,
  passOverString,
  skipSpace,
} from '../json/bytes/json-tokens.ts'
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../json/char-codes.ts'
import { parseJson } from '../json/parse-json.ts'
import { endsScalar } from '../json/text-tokens.ts'
import { invalidPart } from './invalid-part.ts'
import type { Part } from './part.ts'
import { countsFromEnd, type PathStep } from './path-steps.ts'

/**
 * The values that a path meets, as they are spelt in the body: no value is built, so numbers, keys
 * and spaces stay. One pass over the body, one more for each step that counts from the end. Values
 * beside the path are only skipped, not checked. Of equal keys the last counts, as for
 * `JSON.parse`. A path with a slice gives a JSON list, which may be empty; another path must meet a
 * value.
 * @throws AppError `invalid_request`
 */
export function selectPath(body: Uint8Array, steps: readonly PathStep[]): Part {
  const walker = new PathWalker(body, steps)
  walker.walk()
  const { found } = walker
  const values = found.length / 2
  if (steps.some(step => step.kind === 'slice')) {
    return { kind: 'path', content: list(body, found), values }
  }
  if (values === 0) throw invalidPart('path', `nothing is at ${steps[walker.reached]!.upTo}`)
  return { kind: 'path', content: body.subarray(found[0]!, found[1]!), values }
}

/** `[a,b,c]` of the ranges. */
function list(body: Uint8Array, ranges: readonly number[]): Uint8Array {
  let bytes = 2 + Math.max(0, ranges.length / 2 - 1)
  for (let i = 0; i < ranges.length; i += 2) bytes += ranges[i + 1]! - ranges[i]!
  const out = new Uint8Array(bytes)
  let at = 0
  out[at++] = OPEN_BRACKET
  for (let i = 0; i < ranges.length; i += 2) {
    if (i > 0) out[at++] = COMMA
    out.set(body.subarray(ranges[i]!, ranges[i + 1]!), at)
    at += ranges[i + 1]! - ranges[i]!
  }
  out[at] = CLOSE_BRACKET
  return out
}

/** An element of so many is marked while they are counted, to begin with it the second time. */
const MARKED_EACH = 64

class PathWalker {
  /** Start and end of each value met, in pairs. */
  readonly found: number[] = []
  /** The deepest step that met nothing. */
  reached = 0
  readonly #body: Uint8Array
  readonly #steps: readonly PathStep[]
  readonly #names: readonly (Uint8Array | null)[]

  constructor(body: Uint8Array, steps: readonly PathStep[]) {
    this.#body = body
    this.#steps = steps
    const utf8 = new TextEncoder()
    this.#names = steps.map(step => (step.kind === 'member' ? utf8.encode(step.name) : null))
  }

  walk(): void {
    const end = skipSpace(this.#body, this.#visit(skipSpace(this.#body, 0), 0))
    if (end < this.#body.byteLength) throw this.#notJson(end)
  }

  /**
   * Follows the path from step `depth` into the value at `at`; gives the offset after the value.
   */
  #visit(at: number, depth: number): number {
    const step = this.#steps[depth]
    if (step === undefined) {
      const end = this.#skip(at)
      this.found.push(at, end)
      return end
    }
    if (depth > this.reached) this.reached = depth
    if (step.kind === 'member' && this.#body[at] === OPEN_BRACE) {
      return this.#members(at, depth, step.name)
    }
    if (step.kind !== 'member' && this.#body[at] === OPEN_BRACKET) {
      if (!countsFromEnd(step)) return this.#elements(at, chosen(step, 0), depth).end
      const { count, marks } = this.#elements(at, () => false, depth)
      const first = Math.max(0, firstOf(step, count))
      const mark = Math.min(Math.floor(first / MARKED_EACH), marks.length - 1)
      const from = mark < 0 ? undefined : { index: mark * MARKED_EACH, at: marks[mark]! }
      return this.#elements(at, chosen(step, count), depth, from).end
    }
    return this.#skip(at)
  }

  #members(start: number, depth: number, name: string): number {
    const body = this.#body
    const before = this.found.length
    let at = skipSpace(body, start + 1)
    if (body[at] === CLOSE_BRACE) return at + 1
    for (;;) {
      if (body[at] !== QUOTE) throw this.#notJson(at)
      const keyEnd = this.#string(at)
      const wanted = this.#isKey(at, keyEnd, this.#names[depth]!, name)
      at = skipSpace(body, keyEnd)
      if (body[at] !== COLON) throw this.#notJson(at)
      at = skipSpace(body, at + 1)
      if (wanted) this.found.length = before
      at = skipSpace(body, wanted ? this.#visit(at, depth + 1) : this.#skip(at))
      if (body[at] === CLOSE_BRACE) return at + 1
      if (body[at] !== COMMA) throw this.#notJson(at)
      at = skipSpace(body, at + 1)
    }
  }

  /** @param from an element to begin with; absent: the first one */
  #elements(
    start: number,
    wanted: (index: number) => boolean,
    depth: number,
    from?: { readonly index: number; readonly at: number },
  ): { end: number; count: number; marks: readonly number[] } {
    const body = this.#body
    const marks: number[] = []
    let at = from?.at ?? skipSpace(body, start + 1)
    if (body[at] === CLOSE_BRACKET) return { end: at + 1, count: 0, marks }
    for (let index = from?.index ?? 0; ; index++) {
      if (index % MARKED_EACH === 0) marks.push(at)
      at = skipSpace(body, wanted(index) ? this.#visit(at, depth + 1) : this.#skip(at))
      if (body[at] === CLOSE_BRACKET) return { end: at + 1, count: index + 1, marks }
      if (body[at] !== COMMA) throw this.#notJson(at)
      at = skipSpace(body, at + 1)
    }
  }

  /** The offset after the value at `start`. Containers are followed by their nesting alone. */
  #skip(start: number): number {
    const first = this.#body[start]
    if (first === QUOTE) return this.#string(start)
    if (first !== OPEN_BRACE && first !== OPEN_BRACKET) {
      if (start < this.#body.byteLength) return this.#scalar(start)
      throw this.#notJson(start)
    }
    const end = skipContainer(this.#body, start)
    if (end === -1) throw this.#notJson(this.#openString(start))
    return end
  }

  /** The string after `start` that does not end, or the end of the body. */
  #openString(start: number): number {
    const body = this.#body
    for (let at = start; at < body.byteLength; at++) {
      if (body[at] !== QUOTE) continue
      const end = passOverString(body, at)
      if (end === -1) return at
      at = end - 1
    }
    return body.byteLength
  }

  /** The offset after the number or word at `start`, which is checked. */
  #scalar(start: number): number {
    const body = this.#body
    const scalar = endOfScalar(body, start)
    const end = scalar === -1 ? endOfNonFinite(body, start) : scalar
    if (end === -1) throw this.#notJson(start)
    if (end === body.byteLength || endsScalar(body[end]!) || body[end] === COLON) return end
    throw this.#notJson(start)
  }

  /** The offset after the string whose opening quote is at `start`. */
  #string(start: number): number {
    const end = passOverString(this.#body, start)
    if (end === -1) throw this.#notJson(start)
    return end
  }

  /** Whether the string literal from `start` to `end` means `name`, whose UTF-8 is `bytes`. */
  #isKey(start: number, end: number, bytes: Uint8Array, name: string): boolean {
    const body = this.#body
    const length = end - start - 2
    let same = length === bytes.byteLength
    for (let i = 0; i < length; i++) {
      const c = body[start + 1 + i]!
      if (c === BACKSLASH) {
        const key = parseJson(new TextDecoder().decode(body.subarray(start, end)))
        if (!key.ok) throw this.#notJson(start)
        return key.value === name
      }
      if (same && c !== bytes[i]) same = false
    }
    return same
  }

  #notJson(at: number) {
    return invalidPart('path', `the original is no JSON (byte ${at})`)
  }
}

/**
 * Which elements of `count` a step chooses; `count` is needed only if it counts from the end.
 */
function chosen(
  step: Exclude<PathStep, { kind: 'member' }>,
  count: number,
): (index: number) => boolean {
  const start = firstOf(step, count)
  if (step.kind === 'index') return index => index === start
  const end = step.end === null ? Number.POSITIVE_INFINITY : fromStart(step.end, count)
  return index => index >= start && index < end
}

/** The first element that a step may choose; below 0 if that stands before all. */
function firstOf(step: Exclude<PathStep, { kind: 'member' }>, count: number): number {
  return fromStart(step.kind === 'index' ? step.at : (step.start ?? 0), count)
}

function fromStart(at: number, count: number): number {
  return at < 0 ? at + count : at
}

/**
 * States between two bytes of JSON. A column of the table has the next state from each for one
 * byte, three bits a state, so that a step is a shift and no branch is guessed wrongly (as
 * `endOfString` in `json/bytes/json-tokens.ts` does). A state is the number of bits to shift by.
 */
const STATE_MASK = 7
const OUTSIDE = 0
const IN_STRING = 3
const AFTER_BACKSLASH = 6

const NEXT = Int32Array.from({ length: 256 }, (_, byte) => {
  const outside = byte === QUOTE ? IN_STRING : OUTSIDE
  const inside = byte === QUOTE ? OUTSIDE : byte === BACKSLASH ? AFTER_BACKSLASH : IN_STRING
  return (outside << OUTSIDE) | (inside << IN_STRING) | (IN_STRING << AFTER_BACKSLASH)
})

/** How much deeper a byte leads outside of strings. */
const DEEPER = Int8Array.from({ length: 256 }, (_, byte) => {
  if (byte === OPEN_BRACE || byte === OPEN_BRACKET) return 1
  return byte === CLOSE_BRACE || byte === CLOSE_BRACKET ? -1 : 0
})

/**
 * The offset after the object or list at `start`, by its nesting alone: what is in it is not
 * checked. Returns -1 if it does not end.
 */
function skipContainer(body: Uint8Array, start: number): number {
  const { length } = body
  let state = OUTSIDE
  let nesting = 0
  for (let at = start; at < length; at++) {
    const byte = body[at]!
    // The mask has all bits outside of strings, and none in them.
    nesting += ((state - 1) >> 31) & DEEPER[byte]!
    state = (NEXT[byte]! >> state) & STATE_MASK
    if (nesting === 0) return at + 1
  }
  return -1
}
