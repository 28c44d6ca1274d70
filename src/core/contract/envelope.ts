import { isUtf8 } from 'node:buffer'
import { AppError } from '../base/errors.ts'
import { BACKSLASH, COLON, QUOTE } from '../json/char-codes.ts'
import { parseJson as parseValue } from '../json/parse-json.ts'
import { isSpace } from '../json/text-tokens.ts'
import { NumberLiteral, ObjectValue, type Value } from '../json/value.ts'
import { type EnvelopeLimits, guardJson, guardMsgpack, guardValue } from './envelope-guard.ts'
import { msgpack } from './msgpack.ts'

/** The two encodings of request and answer bodies. */
export type MediaType = 'json' | 'msgpack'

export const MEDIA_TYPES: Record<MediaType, string> = {
  json: 'application/json',
  msgpack: 'application/msgpack',
}

const utf8 = new TextDecoder('utf-8')
const encoder = new TextEncoder()

/**
 * A JSON body up to this size is parsed first, and its value is checked then. That is faster,
 * because strings need no separate pass. So few bytes cannot do harm, and V8's parser does not
 * recurse.
 */
const SMALL_BYTES = 64 * 1024

/**
 * Parses a request body (UTF-8 JSON or MessagePack). Its depth and number of values are bounded,
 * except for small bodies before a parser sees them. So no body can make a parser recurse or
 * allocate without bound.
 * @param options.keepsSpelling whether numbers in JSON keep their spelling: see
 * `parseKeepingSpelling`
 * @throws AppError `invalid_request`
 */
export function readEnvelope(
  bytes: Uint8Array,
  media: MediaType,
  limits: EnvelopeLimits,
  { keepsSpelling = false } = {},
): unknown {
  if (bytes.length === 0) throw new AppError('invalid_request', 'the body is empty')
  if (media === 'msgpack') return readMsgpack(bytes, limits)
  return keepsSpelling ? readJsonAsSpelled(bytes, limits) : readJson(bytes, limits)
}

function readJson(bytes: Uint8Array, limits: EnvelopeLimits): unknown {
  const isSmall = bytes.length <= SMALL_BYTES
  if (!isSmall) guardJson(bytes, limits)
  const value = parseJson(bytes, JSON.parse)
  if (isSmall) guardValue(value, limits)
  return value
}

/** A reviver walks the value by recursion, so the depth is bounded before. */
function readJsonAsSpelled(bytes: Uint8Array, limits: EnvelopeLimits): unknown {
  guardJson(bytes, limits)
  return parseJson(bytes, parseKeepingSpelling)
}

function parseJson(bytes: Uint8Array, parse: (text: string) => unknown): unknown {
  if (!isUtf8(bytes)) throw new AppError('invalid_request', 'the body is not valid UTF-8')
  try {
    return parse(utf8.decode(bytes))
  } catch (cause) {
    throw new AppError('invalid_request', 'the body is not valid JSON', {}, cause)
  }
}

function readMsgpack(bytes: Uint8Array, limits: EnvelopeLimits): unknown {
  guardMsgpack(bytes, limits)
  try {
    return msgpack().unpackr.unpack(bytes)
  } catch (cause) {
    throw new AppError('invalid_request', 'the body is not valid MessagePack', {}, cause)
  }
}

/**
 * Writes an answer. MessagePack strings are UTF-8 and cannot hold a lone surrogate; an answer that
 * has one is written as JSON, which can escape it, and says so by its media type.
 */
export function writeEnvelope(
  answer: unknown,
  accept: MediaType,
): { media: MediaType; bytes: Uint8Array } {
  if (accept === 'msgpack' && isWellFormed(answer))
    return { media: 'msgpack', bytes: msgpack().packr.pack(answer) }
  return { media: 'json', bytes: encoder.encode(JSON.stringify(answer)) }
}

/**
 * Whether no string in `value` (nested; keys too) holds a lone surrogate. Depth is ours: answers
 * are shallow.
 */
function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isWellFormed)
  return Object.entries(value).every(([key, inner]) => key.isWellFormed() && isWellFormed(inner))
}

/** A JSON text that `JSON.stringify` writes as it is (ECMAScript, "JSON.rawJSON"). */
interface RawJson {
  readonly rawJSON: string
}

/** Functions of the language that the compiler's library does not declare yet. */
const { rawJSON, isRawJSON, parse } = JSON as unknown as {
  rawJSON(text: string): RawJson
  isRawJSON(value: unknown): value is RawJson
  parse(
    text: string,
    revive: (key: string, value: unknown, at: { source?: string }) => unknown,
  ): unknown
}

/**
 * `JSON.parse` for values that are written again: a number that `JSON.stringify` would spell in
 * another way, such as `1.0` or `12345678901234567890`, becomes raw JSON, which is written
 * unchanged. The fields of the outermost object are numbers in any case. Recurses with the depth of
 * the text; throws as `JSON.parse` does.
 */
export function parseKeepingSpelling(text: string): unknown {
  const parsed = parse(text, keepSpelling)
  const value = hasEscapedKey(text) ? readEscapedKeys(text) : parsed
  if (typeof value !== 'object' || value === null) return value
  const fields = value as Record<string, unknown>
  for (const [key, field] of Object.entries(fields)) {
    if (isRawJSON(field)) fields[key] = Number(field.rawJSON)
  }
  return fields
}

function keepSpelling(_key: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined || String(value) === source) return value
  return rawJSON(source)
}

/** @param text JSON */
function hasEscapedKey(text: string): boolean {
  for (let at = text.indexOf('\\'); at !== -1; at = text.indexOf('\\', at)) {
    for (let c = BACKSLASH; c !== QUOTE; c = text.charCodeAt(at)) at += c === BACKSLASH ? 2 : 1
    do at++
    while (isSpace(text.charCodeAt(at)))
    if (text.charCodeAt(at) === COLON) return true
  }
  return false
}

/**
 * The same value by our own parser. `JSON.parse` of V8 13.6 and later (Node 24) takes an escaped
 * key for an unlike key with a backslash that an earlier object had there:
 * https://github.com/nodejs/node/issues/63785
 */
function readEscapedKeys(text: string): unknown {
  const read = parseValue(text, { maxDepth: Infinity })
  if (!read.ok) throw new SyntaxError(`no JSON at ${read.offset}`)
  return plainOf(read.value)
}

function plainOf(value: Value): unknown {
  if (value instanceof NumberLiteral) return rawJSON(value.text)
  if (Array.isArray(value)) return value.map(plainOf)
  if (!(value instanceof ObjectValue)) return value
  return Object.fromEntries(value.keys.map((key, i) => [key, plainOf(value.values[i]!)]))
}
