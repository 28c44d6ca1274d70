import { COLON, OPEN_BRACE, OPEN_BRACKET, QUOTE, SPACE } from '../value/char-codes.ts'
import { DEFAULT_MAX_DEPTH, parseJson } from '../value/parse-json.ts'
import { ObjectValue, type Value } from '../value/value.ts'
import { writeJson } from '../value/write-json.ts'
import { escapeText, isAmbiguous, readLiteral } from './bare-text.ts'
import { notDecodable } from './not-decodable.ts'
import type { Notation } from './notation.ts'
import { COLON_BIT, contentOf, LINE_FEED_BIT, QUOTE_BIT, UNSAFE_BIT } from './text-content.ts'

/** One line `key: value` a member; members that are objects or arrays stay JSON on their line. */
export const kv: Notation = {
  id: 'kv',
  version: 1,
  accepts: value => value instanceof ObjectValue && value.keys.length > 0,
  encode,
  decode,
}

/** A key with one of these, or with white space at an end, is written as a JSON string. */
const KEY_NEEDS_QUOTES = COLON_BIT | QUOTE_BIT | LINE_FEED_BIT | UNSAFE_BIT
const VALUE_NEEDS_QUOTES = LINE_FEED_BIT | UNSAFE_BIT

function encode(value: Value): string | null {
  if (!(value instanceof ObjectValue) || value.keys.length === 0) return null
  const { keys, values } = value
  let out = ''
  for (let i = 0; i < keys.length; i++) {
    if (i > 0) out += '\n'
    out += `${encodeKey(keys[i]!)}: ${encodeMember(values[i]!)}`
  }
  return out
}

function encodeKey(key: string): string {
  const bare = key.length > 0 && (contentOf(key) & KEY_NEEDS_QUOTES) === 0 && key.trim() === key
  return bare ? key : escapeText(key)
}

function encodeMember(value: Value): string {
  if (typeof value !== 'string') return writeJson(value)
  const quoted = (contentOf(value) & VALUE_NEEDS_QUOTES) !== 0 || isAmbiguous(value)
  return quoted ? escapeText(value) : value
}

function decode(text: string): Value {
  const keys: string[] = []
  const values: Value[] = []
  for (let start = 0, end = 0; start <= text.length; start = end + 1) {
    end = text.indexOf('\n', start)
    if (end === -1) end = text.length
    const keyEnd =
      text.charCodeAt(start) === QUOTE
        ? quotedKey(text, start, keys)
        : bareKey(text, start, end, keys)
    if (text.charCodeAt(keyEnd) !== COLON || text.charCodeAt(keyEnd + 1) !== SPACE) {
      throw notDecodable(text, start, '"key: value" expected')
    }
    values.push(decodeMember(text, keyEnd + 2, end))
  }
  return new ObjectValue(keys, values)
}

/** Reads a key written as a JSON string; gives the offset behind it. A JSON string holds no line feed. */
function quotedKey(text: string, start: number, keys: string[]): number {
  const parsed = parseJson(text, { start, prefix: true })
  if (!parsed.ok) throw notDecodable(text, start, 'a key as a JSON string expected')
  keys.push(parsed.value as string)
  return parsed.end
}

function bareKey(text: string, start: number, end: number, keys: string[]): number {
  let colon = start
  while (colon < end && text.charCodeAt(colon) !== COLON) colon++
  if (colon === start || colon === end) throw notDecodable(text, start, '"key: value" expected')
  keys.push(text.slice(start, colon))
  return colon
}

function decodeMember(text: string, start: number, end: number): Value {
  if (start >= end) throw notDecodable(text, start - 1, 'a value expected')
  const c = text.charCodeAt(start)
  if (c === QUOTE || c === OPEN_BRACKET || c === OPEN_BRACE) {
    const parsed = parseJson(text.slice(start, end), { maxDepth: DEFAULT_MAX_DEPTH - 1 })
    if (!parsed.ok) throw notDecodable(text, start, 'JSON expected')
    return parsed.value
  }
  const literal = readLiteral(text, start, end)
  return literal === undefined ? text.slice(start, end) : literal
}
