import { type JsonBytes, memberOf, members, RANGE, textOf } from '../core/json/bytes/json-node.ts'
import { skipSpace } from '../core/json/bytes/json-tokens.ts'
import { readJson } from '../core/json/bytes/read-json.ts'
import { OPEN_BRACKET } from '../core/json/char-codes.ts'

/**
 * Messages of JSON-RPC 2.0 as MCP uses them. Ids, parameters, results and errors stay the bytes
 * that came: `JSON.parse` would turn 12345678901234567890 into another number.
 */
export type Message = RequestMessage | NotificationMessage | ResponseMessage

export interface RequestMessage {
  readonly kind: 'request'
  /** A JSON string or number. */
  readonly id: JsonBytes
  readonly method: string
  /** A JSON object; `null` if there is none. */
  readonly params: JsonBytes | null
}

export interface NotificationMessage {
  readonly kind: 'notification'
  readonly method: string
  readonly params: JsonBytes | null
}

export interface ResponseMessage {
  readonly kind: 'response'
  /** `null` in an error about a message whose id could not be read. */
  readonly id: JsonBytes | null
  readonly outcome: Outcome
}

/** How a request ended: a JSON object either way. */
export type Outcome =
  | { readonly kind: 'result'; readonly result: JsonBytes }
  | { readonly kind: 'error'; readonly error: JsonBytes }

/** Codes of JSON-RPC and MCP that the gateway answers with itself. */
export const RPC_ERRORS = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
} as const

const MESSAGE = members({
  jsonrpc: RANGE,
  id: RANGE,
  method: RANGE,
  params: RANGE,
  result: RANGE,
  error: RANGE,
})

/** Names of methods are short. */
const MOST_METHOD_BYTES = 1_024
/** Levels of nesting that a message may have. */
const MAX_DEPTH = 10_000

/**
 * Reads one message.
 * @param bytes one JSON text, without a byte order mark
 * @returns `null` if the bytes are no message: no JSON, a batch, a member twice, a wrong type
 */
export function readMessage(bytes: JsonBytes): Message | null {
  const limits = { maxBytes: bytes.length, maxDepth: MAX_DEPTH, maxValues: 16 }
  const root = readJson(bytes, MESSAGE, limits)
  if (root === null || root.members === null || root.doubled) return null
  const raw = (name: string): JsonBytes | null => {
    const node = memberOf(root, name)
    return node === undefined ? null : bytes.subarray(node.start, node.end)
  }
  if (textOf(bytes, memberOf(root, 'jsonrpc')) !== '2.0') return null
  const id = raw('id')
  if (memberOf(root, 'method') === undefined) return responseOf(id, raw('result'), raw('error'))
  const named = raw('method')
  const method =
    named !== null && named.length > MOST_METHOD_BYTES
      ? undefined
      : textOf(bytes, memberOf(root, 'method'))
  const given = raw('params')
  const params = given?.toString('latin1', 0, 4) === 'null' || isEmptyArray(given) ? null : given
  if (method === undefined || (params !== null && !isObject(params))) return null
  if (id === null) return { kind: 'notification', method, params }
  return isId(id) ? { kind: 'request', id, method, params } : null
}

/** The id of a request that cannot be read as a whole; `null` if there is none that can be read. */
export function readRequestId(bytes: JsonBytes): JsonBytes | null {
  const limits = { maxBytes: bytes.length, maxDepth: MAX_DEPTH, maxValues: 16 }
  const root = readJson(bytes, MESSAGE, limits)
  if (root === null || root.doubled || memberOf(root, 'method') === undefined) return null
  const id = memberOf(root, 'id')
  const raw = id === undefined ? null : bytes.subarray(id.start, id.end)
  return raw !== null && isId(raw) ? raw : null
}

function responseOf(
  id: JsonBytes | null,
  result: JsonBytes | null,
  error: JsonBytes | null,
): ResponseMessage | null {
  if ((result === null) === (error === null)) return null
  const given = (result ?? error) as JsonBytes
  const value = isEmptyArray(given) ? EMPTY : given
  if (!isObject(value)) return null
  const isNull = id === null || id.toString('latin1') === 'null'
  if (isNull ? result !== null : !isId(id)) return null
  const outcome: Outcome =
    result === null ? { kind: 'error', error: value } : { kind: 'result', result: value }
  return { kind: 'response', id: isNull ? null : id, outcome }
}

const EMPTY: JsonBytes = Buffer.from('{}')

/** Which is what PHP writes for an object without members. */
function isEmptyArray(value: JsonBytes | null): boolean {
  return value?.[0] === OPEN_BRACKET && skipSpace(value, 1) === value.length - 1
}

function isObject(value: JsonBytes): boolean {
  return value[0] === 0x7b
}

/** A string, or a number; MCP has no `null` ids. */
function isId(value: JsonBytes): boolean {
  const first = value[0] as number
  return first === 0x22 || first === 0x2d || (first >= 0x30 && first <= 0x39)
}

/** A request, without a line feed after it. */
export function writeRequest(
  id: number | JsonBytes,
  method: string,
  params: JsonBytes | null,
): JsonBytes {
  return joined(
    '{"jsonrpc":"2.0","id":',
    typeof id === 'number' ? String(id) : id,
    `,"method":${JSON.stringify(method)}`,
    ...paramsOf(params),
    '}',
  )
}

export function writeNotification(method: string, params: JsonBytes | null): JsonBytes {
  return joined(`{"jsonrpc":"2.0","method":${JSON.stringify(method)}`, ...paramsOf(params), '}')
}

/** @param id `null` if the request's id could not be read */
export function writeResponse(id: JsonBytes | null, outcome: Outcome): JsonBytes {
  const [name, value] =
    outcome.kind === 'result' ? ['result', outcome.result] : ['error', outcome.error]
  return joined('{"jsonrpc":"2.0","id":', id ?? 'null', `,"${name}":`, value as JsonBytes, '}')
}

/** Characters of a message of ours: it may repeat a name that a client has made up. */
const MOST_CHARS = 300

/** A text as errors repeat it. */
export function shortened(text: string): string {
  return text.length <= MOST_CHARS ? text : `${text.slice(0, MOST_CHARS).toWellFormed()}…`
}

/** An error of the gateway's own. */
export function errorOutcome(code: number, text: string, data?: unknown): Outcome {
  const error = { code, message: shortened(text), ...(data === undefined ? {} : { data }) }
  return { kind: 'error', error: jsonBytes(error) }
}

/** A value of ours as JSON. */
export function jsonBytes(value: unknown): JsonBytes {
  return Buffer.from(JSON.stringify(value))
}

function paramsOf(params: JsonBytes | null): (string | JsonBytes)[] {
  return params === null ? [] : [',"params":', params]
}

function joined(...parts: readonly (string | JsonBytes)[]): JsonBytes {
  return Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : part)))
}
