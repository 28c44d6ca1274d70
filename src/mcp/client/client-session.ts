import { randomBytes } from 'node:crypto'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import type { Gateway } from '../gateway.ts'
import type { GatewayClient } from '../gateway-options.ts'
import {
  errorOutcome,
  jsonBytes,
  type Message,
  type NotificationMessage,
  type Outcome,
  type RequestMessage,
  type ResponseMessage,
  RPC_ERRORS,
  writeNotification,
  writeRequest,
  writeResponse,
} from '../json-rpc.ts'
import { EMPTY_OBJECT, member, objectMember, textMember } from '../members.ts'
import { contextOf } from './contexts/context-of.ts'

/** Revisions that a client can agree on with us in a handshake, the newest first. */
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const

type LegacyVersion = (typeof LEGACY_VERSIONS)[number]

/** How long the answer to `initialize` waits for servers, in milliseconds. */
const READY_MS = 5_000

/** How long the client, and its user, may take for an answer, in milliseconds. */
const ASK_MS = 600_000
/** Requests of the client that run at once. */
const MAX_RUNNING = 1_000
/** Questions of servers that are open at once. */
const MAX_ASKED = 256

export interface SessionOptions {
  readonly version: string
  /** Names this connection, if it is one context; absent: it is not. */
  readonly context?: string
  createGateway(client: GatewayClient): Gateway
  /** Sends a message of its own accord: a request, or a notification that belongs to no request. */
  send(message: JsonBytes): void
  /** Whether the client waits for such messages; absent: that is not known. */
  isListening?(): boolean
}

/** What a client states of itself is small. */
const MOST_INITIALIZE_BYTES = 256 * 1024

const CANCELLED = 'notifications/cancelled'

/** What a request of the client may send before its answer. */
type SendRelated = (message: JsonBytes) => void

/** What a transport knows of a request. */
export interface RequestTerms {
  /** Takes what belongs to this request, if the transport tells it apart. */
  readonly sendRelated?: SendRelated
  /** Ends the request without an answer, as its cancellation does. */
  readonly signal?: AbortSignal
  /** The header `X-Haversack-Session`. */
  readonly context?: string | null
  /** The header of the same name. */
  readonly traceparent?: string | null
  /** Whether the answer has left for the client, once that is known. */
  readonly sent?: Promise<boolean>
}

/**
 * A client of a revision before 2026-07-28, whatever its transport: handshake, ids, cancellation.
 */
export class ClientSession {
  readonly #options: SessionOptions
  #gateway: Gateway | null = null
  /** Requests under way, by their ids as the client wrote them. */
  readonly #running = new Map<string, AbortController>()
  /** Requests of ours that the client has not answered, by their ids. */
  readonly #asked = new Map<string, (outcome: Outcome) => void>()
  /** In all ids of ours: a client that comes back may answer what an earlier session asked. */
  readonly #tag = randomBytes(4).toString('hex')
  #lastId = 0
  #agreed: LegacyVersion | null = null
  #isClosed = false

  constructor(options: SessionOptions) {
    this.#options = options
  }

  /** The revision that the handshake agreed on; `null` before it. */
  get version(): LegacyVersion | null {
    return this.#agreed
  }

  /**
   * Takes a message of the client.
   * @returns the answer to a request; `null` if there is none to send. Never rejects.
   */
  async receive(message: Message, terms: RequestTerms = {}): Promise<JsonBytes | null> {
    if (message.kind === 'request') return this.#answer(message, terms)
    if (message.kind === 'response') this.#settle(message)
    else this.#notified(message, terms)
    return null
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const running of this.#running.values()) running.abort()
    const gone = errorOutcome(RPC_ERRORS.internal, 'the client has gone')
    for (const settle of this.#asked.values()) settle(gone)
    this.#asked.clear()
    await this.#gateway?.close()
  }

  async #answer(request: RequestMessage, terms: RequestTerms): Promise<JsonBytes | null> {
    const id = request.id.toString()
    if (this.#running.has(id)) {
      const outcome = errorOutcome(RPC_ERRORS.invalidRequest, 'a request with this id is running')
      return writeResponse(request.id, outcome)
    }
    // It cannot be cancelled: without its answer the client could neither go on nor begin again.
    if (request.method === 'initialize') {
      return writeResponse(request.id, await this.#initialize(request.params ?? EMPTY_OBJECT))
    }
    if (this.#running.size >= MAX_RUNNING) {
      const outcome = errorOutcome(RPC_ERRORS.internal, 'too many requests are running')
      return writeResponse(request.id, outcome)
    }
    const controller = new AbortController()
    const end = () => controller.abort()
    terms.signal?.addEventListener('abort', end)
    this.#running.set(id, controller)
    try {
      const outcome = await this.#outcomeOf(request, controller.signal, terms)
      return controller.signal.aborted ? null : writeResponse(request.id, outcome)
    } finally {
      terms.signal?.removeEventListener('abort', end)
      this.#running.delete(id)
    }
  }

  async #outcomeOf(
    { method, params }: RequestMessage,
    signal: AbortSignal,
    {
      sendRelated = message => this.#options.send(message),
      context,
      traceparent,
      sent,
    }: RequestTerms,
  ): Promise<Outcome> {
    if (this.#gateway === null) {
      if (method === 'ping') return { kind: 'result', result: EMPTY_OBJECT }
      return errorOutcome(
        method === 'server/discover' ? RPC_ERRORS.methodNotFound : RPC_ERRORS.invalidRequest,
        `${method} before initialize`,
      )
    }
    let isOpen = true
    const outcome = await this.#gateway.handle({
      method,
      params,
      signal,
      context: contextOf({
        params,
        header: context ?? null,
        connection: this.#options.context ?? null,
      }),
      ...(traceparent === undefined ? {} : { traceparent }),
      ...(sent === undefined ? {} : { sent }),
      notify(name, about) {
        if (isOpen && !signal.aborted) sendRelated(writeNotification(name, about))
      },
      ask: (name, about, asked) => this.#ask(name, about, asked, sendRelated),
    })
    isOpen = false
    return outcome
  }

  async #initialize(params: JsonBytes): Promise<Outcome> {
    if (this.#gateway !== null) {
      return errorOutcome(RPC_ERRORS.invalidRequest, 'initialize came twice')
    }
    if (this.#isClosed) return errorOutcome(RPC_ERRORS.internal, 'the session has ended')
    if (params.length > MOST_INITIALIZE_BYTES) {
      return errorOutcome(RPC_ERRORS.invalidParams, `above ${MOST_INITIALIZE_BYTES} bytes`)
    }
    const asked = textMember(params, 'protocolVersion')
    this.#agreed = LEGACY_VERSIONS.find(version => version === asked) ?? LEGACY_VERSIONS[0]
    const info = objectMember(params, 'clientInfo')
    const gateway = this.#options.createGateway({
      name: info === null ? null : textMember(info, 'name'),
      info,
      capabilities: objectMember(params, 'capabilities') ?? EMPTY_OBJECT,
      notify: (method, about) => {
        if (!this.#isClosed) this.#options.send(writeNotification(method, about))
      },
      isListening: () => this.#options.isListening?.() ?? false,
      ask: (method, about, asked) =>
        this.#ask(method, about, asked, message => this.#options.send(message)),
    })
    this.#gateway = gateway
    await gateway.ready(READY_MS)
    const instructions = gateway.instructions()
    const head = jsonBytes({
      protocolVersion: this.#agreed,
      serverInfo: { name: 'haversack', version: this.#options.version },
      ...(instructions === null ? {} : { instructions }),
    })
    const result = Buffer.concat([
      head.subarray(0, -1),
      Buffer.from(',"capabilities":'),
      gateway.capabilities(),
      Buffer.from('}'),
    ])
    return { kind: 'result', result }
  }

  #ask(
    method: string,
    params: JsonBytes | null,
    signal: AbortSignal | undefined,
    send: SendRelated,
  ): Promise<Outcome> {
    if (this.#isClosed || signal?.aborted === true) {
      return Promise.resolve(errorOutcome(RPC_ERRORS.internal, 'the client has gone'))
    }
    if (this.#asked.size >= MAX_ASKED) {
      return Promise.resolve(errorOutcome(RPC_ERRORS.internal, 'too many questions are open'))
    }
    const id = JSON.stringify(`haversack-${this.#tag}-${++this.#lastId}`)
    return new Promise(resolve => {
      const withdraw = () => {
        this.#asked.get(id)?.(errorOutcome(RPC_ERRORS.internal, 'the client did not answer'))
        this.#asked.delete(id)
        const about = Buffer.from(`{"requestId":${id}}`)
        if (!this.#isClosed) send(writeNotification(CANCELLED, about))
      }
      const limit = setTimeout(withdraw, ASK_MS)
      signal?.addEventListener('abort', withdraw)
      this.#asked.set(id, outcome => {
        clearTimeout(limit)
        signal?.removeEventListener('abort', withdraw)
        resolve(outcome)
      })
      send(writeRequest(Buffer.from(id), method, params))
    })
  }

  #settle({ id, outcome }: ResponseMessage): void {
    const name = id?.toString()
    if (name === undefined) return
    this.#asked.get(name)?.(outcome)
    this.#asked.delete(name)
  }

  #notified({ method, params }: NotificationMessage, terms: RequestTerms): void {
    if (method === CANCELLED) {
      const id = params === null ? undefined : member(params, 'requestId')
      if (id !== undefined && id !== null) this.#running.get(id.toString())?.abort()
      return
    }
    if (method === 'notifications/initialized') return
    const connection = this.#options.context ?? null
    const context = contextOf({ params, header: terms.context ?? null, connection })
    this.#gateway?.notified(method, params, context)
  }
}
