import { items, itemsOf, type JsonBytes, RANGE } from '../../core/json/bytes/json-node.ts'
import { skipSpace } from '../../core/json/bytes/json-tokens.ts'
import { readJson } from '../../core/json/bytes/read-json.ts'
import { OPEN_BRACKET } from '../../core/json/char-codes.ts'
import {
  type ClientSession,
  LEGACY_VERSIONS,
  type SessionOptions,
} from '../client/client-session.ts'
import { CONTEXT_HEADER } from '../client/contexts/context-of.ts'
import { type Message, RPC_ERRORS, readMessage, readRequestId } from '../json-rpc.ts'
import type { HttpExchange, HttpFront, HttpReply, McpCaller } from './http-exchange.ts'
import { emptyReply, refusal } from './http-replies.ts'
import { HttpSession, type Posted } from './legacy/http-session.ts'
import type { SessionTable } from './legacy/session-table.ts'

/** The code for a session that is not there, as servers of the official SDK answer it. */
const SESSION_NOT_FOUND = -32_001

/** The only revision that has batches. */
const WITH_BATCHES: ClientSession['version'] = '2025-03-26'

const SESSION = 'mcp-session-id'

export interface LegacyHttpOptions {
  readonly version: string
  createGateway(
    client: Parameters<SessionOptions['createGateway']>[0],
    caller: McpCaller,
  ): ReturnType<SessionOptions['createGateway']>
  /** The sessions of all endpoints. */
  readonly table: SessionTable
}

/** Serves clients of the revisions before 2026-07-28 over Streamable HTTP. */
export class LegacyHttpFront implements HttpFront {
  readonly #options: LegacyHttpOptions
  /** Those of the table that belong to this endpoint. */
  readonly #own = new WeakSet<HttpSession>()

  constructor(options: LegacyHttpOptions) {
    this.#options = options
  }

  async answer(exchange: HttpExchange): Promise<HttpReply> {
    const version = exchange.header('mcp-protocol-version')?.trim() ?? null
    if (version !== null && !LEGACY_VERSIONS.some(each => each === version)) {
      const supported = `supported are ${LEGACY_VERSIONS.join(', ')}`
      return invalid(`MCP-Protocol-Version ${version} is not known; ${supported}`)
    }
    if (exchange.method === 'POST') return this.#post(exchange)
    const session = this.#sessionOf(exchange)
    if (!(session instanceof HttpSession)) return session
    if (exchange.method === 'GET') return listen(exchange, session)
    await this.#options.table.end(session)
    return emptyReply(200)
  }

  /** The sessions end with their table. */
  async close(): Promise<void> {}

  async #post(exchange: HttpExchange): Promise<HttpReply> {
    if (!isJson(exchange.header('content-type'))) {
      return refusal(415, { code: RPC_ERRORS.invalidRequest, message: 'JSON is wanted' })
    }
    const accept = exchange.header('accept')
    if (!accepts(accept, 'application/json') || !accepts(accept, 'text/event-stream')) {
      const message = 'Accept must allow application/json and text/event-stream'
      return refusal(406, { code: RPC_ERRORS.invalidRequest, message })
    }
    const posted = readPosted(exchange)
    if ('status' in posted) return posted
    const [first] = posted.messages
    const isFirst = exchange.header(SESSION) === null && !posted.isBatch
    if (isFirst && first?.kind === 'request' && first.method === 'initialize') {
      return this.#begin(exchange, posted)
    }
    const session = this.#sessionOf(exchange)
    if (!(session instanceof HttpSession)) return session
    if (posted.isBatch && session.version !== WITH_BATCHES) return invalid(NO_BATCHES)
    if (!session.makeRoom()) {
      return refusal(503, { code: RPC_ERRORS.internal, message: 'too many requests are open' })
    }
    return session.post(posted, exchange.signal)
  }

  async #begin({ caller, signal }: HttpExchange, posted: Posted): Promise<HttpReply> {
    const { table, version, createGateway } = this.#options
    if (!table.makeRoom(caller.tenant)) {
      return refusal(503, {
        code: RPC_ERRORS.internal,
        message: 'too many sessions are open',
        headers: { 'retry-after': '30' },
      })
    }
    const session = new HttpSession({
      id: table.newId(),
      caller,
      version,
      room: table.room,
      now: () => table.now(),
      createGateway: client => createGateway(client, caller),
    })
    this.#own.add(session)
    table.add(session)
    const reply = await session.post(posted, signal)
    // A client that has gone never learns the id.
    if (signal.aborted) await table.end(session)
    return { ...reply, headers: { ...reply.headers, [SESSION]: session.id } }
  }

  #sessionOf(exchange: HttpExchange): HttpSession | HttpReply {
    const id = exchange.header(SESSION)
    if (id === null) return invalid('the header Mcp-Session-Id is missing')
    const session = this.#options.table.find(id, exchange.caller)
    if (session !== undefined && this.#own.has(session)) return session
    return refusal(404, { code: SESSION_NOT_FOUND, message: 'Session not found' })
  }
}

const NO_BATCHES = 'only the revision 2025-03-26 has batches'

function listen(exchange: HttpExchange, session: HttpSession): HttpReply {
  if (!accepts(exchange.header('accept'), 'text/event-stream')) {
    const message = 'Accept must allow text/event-stream'
    return refusal(406, { code: RPC_ERRORS.invalidRequest, message })
  }
  const reply = session.listen(exchange.header('last-event-id'))
  return reply ?? invalid('there is no event with this Last-Event-ID any more')
}

function readPosted(exchange: HttpExchange): Posted | HttpReply {
  const { body } = exchange
  const origin = {
    context: exchange.header(CONTEXT_HEADER),
    traceparent: exchange.header('traceparent'),
  }
  if (!isBatch(body)) {
    const message = readMessage(body)
    if (message !== null) return { ...origin, messages: [message], isBatch: false }
    const id = readRequestId(body)
    const code = id === null ? RPC_ERRORS.parse : RPC_ERRORS.invalidRequest
    return refusal(400, { code, message: 'one message of JSON-RPC 2.0 is wanted', id })
  }
  const all = batchItems(body)?.map(item => readMessage(item)) ?? [null]
  const messages = all.filter((message): message is Message => message !== null)
  const isInitial = messages.some(each => each.kind === 'request' && each.method === 'initialize')
  if (messages.length < all.length || isInitial) return invalid('the batch cannot be read')
  return { ...origin, messages, isBatch: true }
}

function invalid(message: string): HttpReply {
  return refusal(400, { code: RPC_ERRORS.invalidRequest, message })
}

/** Whether a `Content-Type` says JSON. */
function isJson(contentType: string | null): boolean {
  return /^\s*application\/json\s*(?:;|$)/i.test(contentType ?? '')
}

/**
 * Whether an `Accept` allows a media type; a missing one allows all.
 * @param type in lower case
 */
function accepts(accept: string | null, type: string): boolean {
  if (accept === null) return true
  const group = `${type.split('/')[0]}/*`
  return accept.split(',').some(range => {
    const [name = '', ...parameters] = range.split(';').map(part => part.trim().toLowerCase())
    if (name !== type && name !== group && name !== '*/*') return false
    return !parameters.some(parameter => /^q=0(?:\.0{0,3})?$/.test(parameter))
  })
}

/** Messages of one batch. */
const MAX_BATCH = 100

/** Levels of nesting that a message may have. */
const MAX_DEPTH = 10_000

/** Whether a body is an array: a batch of the revision 2025-03-26. */
function isBatch(body: JsonBytes): boolean {
  return body[skipSpace(body, 0)] === OPEN_BRACKET
}

/** The messages of a batch; `null` if they cannot be read, or are too many, or none. */
function batchItems(body: JsonBytes): readonly JsonBytes[] | null {
  const limits = { maxBytes: body.length, maxDepth: MAX_DEPTH, maxValues: 2 * MAX_BATCH }
  const root = readJson(body, items(RANGE), limits)
  if (root === null) return null
  const found = itemsOf(root).map(({ start, end }) => body.subarray(start, end))
  return found.length === 0 || found.length > MAX_BATCH ? null : found
}
