import { typedText } from '../base/typed-text.ts'
import { BACKSLASH, FIRST_SURROGATE, LAST_SURROGATE, QUOTE, SPACE } from './char-codes.ts'
import { NumberLiteral, ObjectValue, type Value } from './value.ts'

/**
 * Characters that a JSON string cannot have unescaped, or must not have if the text shall be valid
 * UTF-8.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must be found
const NEEDS_ESCAPE = /["\\\u0000-\u001f\ud800-\udfff]/

/** Shorter strings are looked at character by character: a regular expression starts slowly. */
const SHORT = 24

type Container = ObjectValue | readonly Value[]

/**
 * The value as compact JSON: numbers in their own spelling, keys in order, duplicates included,
 * lone surrogates escaped. Linear, and without recursion.
 */
export function writeJson(value: Value): string {
  if (!isContainer(value)) return writeScalar(value)
  // Rows of a list share their keys, so these are put in quotes once.
  let lastKeys: readonly string[] = []
  let quoted: string[] = []
  /** Containers that wait for the current one, and the next member of each. */
  const waiting: Container[] = []
  const waitingAt: number[] = []
  let container: Container = value
  let at = 0
  let out = ''
  for (;;) {
    const keys = container instanceof ObjectValue ? container.keys : null
    const values: readonly Value[] = container instanceof ObjectValue ? container.values : container
    if (at === 0) out += keys === null ? '[' : '{'
    if (keys !== null && keys !== lastKeys) {
      lastKeys = keys
      quoted = []
    }
    let inner: Container | undefined
    while (at < values.length && inner === undefined) {
      if (at > 0) out += ','
      if (keys !== null) out += quoted[at] ??= `${quoteJson(keys[at]!)}:`
      const member = values[at++]!
      if (isContainer(member)) inner = member
      else out += writeScalar(member)
    }
    if (inner !== undefined) {
      waiting.push(container)
      waitingAt.push(at)
      container = inner
      at = 0
      continue
    }
    out += keys === null ? ']' : '}'
    const outer = waiting.pop()
    if (outer === undefined) return out
    container = outer
    at = waitingAt.pop()!
  }
}

/** The string as a JSON string literal. */
export function quoteJson(text: string): string {
  return needsEscape(text) ? JSON.stringify(text) : `"${text}"`
}

function needsEscape(string: string): boolean {
  const text = typedText(string)
  if (text.length >= SHORT) return NEEDS_ESCAPE.test(text)
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if (c < SPACE || c === QUOTE || c === BACKSLASH) return true
    if (c >= FIRST_SURROGATE && c <= LAST_SURROGATE) return true
  }
  return false
}

function isContainer(value: Value): value is Container {
  return value instanceof ObjectValue || Array.isArray(value)
}

function writeScalar(value: Exclude<Value, Container>): string {
  if (typeof value === 'string') return quoteJson(value)
  return value instanceof NumberLiteral ? value.text : String(value)
}

/**
 * UTF-16 code units that `writeJson` would write, counted without writing them. Where the length is
 * above `limit`, it stops there and gives some number above `limit`: values share their keys, so
 * the text may be longer than memory by far although the value is small. Linear, and without
 * recursion.
 */
export function jsonLength(value: Value, limit: number): number {
  let lastKeys: readonly string[] = []
  let keysLength = 0
  const pending: (readonly Value[])[] = [[value]]
  let length = 0
  for (let values = pending.pop(); values !== undefined; values = pending.pop()) {
    for (const member of values) {
      if (member instanceof ObjectValue) {
        if (member.keys !== lastKeys) {
          lastKeys = member.keys
          // A colon is written with each key.
          keysLength = lastKeys.length
          for (const key of lastKeys) {
            keysLength += quotedLength(key)
            if (keysLength > limit) return keysLength
          }
        }
        length += containerLength(member.values) + keysLength
        pending.push(member.values)
      } else if (Array.isArray(member)) {
        length += containerLength(member)
        pending.push(member)
      } else length += scalarLength(member as Exclude<Value, ObjectValue | readonly Value[]>)
      if (length > limit) return length
    }
  }
  return length
}

/** Both brackets and the commas between the members. */
function containerLength(members: readonly Value[]): number {
  return 2 + Math.max(0, members.length - 1)
}

function scalarLength(value: Exclude<Value, ObjectValue | readonly Value[]>): number {
  if (typeof value === 'string') return quotedLength(value)
  return value instanceof NumberLiteral ? value.text.length : String(value).length
}

/** The length of `quoteJson`, which mostly needs no writing. */
function quotedLength(text: string): number {
  return needsEscape(text) ? JSON.stringify(text).length : text.length + 2
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** A step of a JSON path (RFC 9535): the index of an item, or the key of a member. */
export function writePathStep(step: string | number): string {
  if (typeof step === 'number') return `[${step}]`
  return NAME.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`
}
