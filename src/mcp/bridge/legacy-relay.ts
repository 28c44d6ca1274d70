import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import {
  jsonBytes,
  type Message,
  type NotificationMessage,
  type RequestMessage,
  type ResponseMessage,
  writeNotification,
  writeRequest,
  writeResponse,
} from '../json-rpc.ts'
import { EMPTY_OBJECT, member, objectMember, textMember } from '../members.ts'
import { Backoff } from '../upstream/backoff.ts'
import { pause } from '../upstream/clock.ts'
import { type BridgeFailure, CUT, lostBy, NO_SESSION, refusedBy } from './bridge-failures.ts'
import { readAnswer } from './read-answer.ts'
import type { OpenRequest, RelayOptions } from './relay.ts'
import { openSession, ServiceSession } from './service-session.ts'

/** Attempts in a row to go on with the stream of a call, and the time before each. */
const RESUMPTIONS = 3
const RESUME_MS = 250

/** The code of an answer that the service knows no such session. */
const SESSION_NOT_FOUND = '-32001'
const CANCELLED = 'notifications/cancelled'
const LISTS = ['tools', 'prompts', 'resources'] as const

/** Messages of the revisions before 2026-07-28: a session, with a stream beside the requests. */
export class LegacyRelay {
  readonly #options: RelayOptions
  readonly #script = new SessionScript()
  #hasBegun = false
  /** `null` before the handshake. */
  #session: Promise<ServiceSession | null> = Promise.resolve(null)
  /** Sessions that take the place of others. */
  readonly #renewals = new WeakMap<ServiceSession, Promise<ServiceSession | null>>()
  /** Requests of the service that the client has not answered, by their ids. */
  readonly #asked = new Map<string, JsonBytes>()
  readonly #closing = new AbortController()

  constructor(options: RelayOptions) {
    this.#options = options
  }

  /** @returns why there is no answer; `null` if there is one, or none is due. Never rejects. */
  async request(open: OpenRequest): Promise<BridgeFailure | null> {
    this.#script.note(open.message)
    if (open.message.method === 'initialize' && !this.#hasBegun) return this.#begin(open)
    const session = await this.#session
    return session === null ? BEFORE_HANDSHAKE : this.#post(open, session, true)
  }

  /** Sends what wants no answer. */
  async send(message: NotificationMessage | ResponseMessage, line: JsonBytes): Promise<void> {
    // An answer to a session that has ended could be read as an answer to another one.
    if (message.kind === 'response' && !this.#asked.delete(String(message.id))) return
    const session = await this.#session
    if (session === null) return
    if (message.kind === 'notification') this.#script.note(message)
    await this.#notify(session, line, message.kind === 'notification')
    const isInitialized = message.kind === 'notification' && /\/initialized$/.test(message.method)
    if (isInitialized) void this.#listen(session)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    const session = await this.#session
    await session?.end()
  }

  async #begin(open: OpenRequest): Promise<BridgeFailure | null> {
    const { endpoint } = this.#options
    const opening = openSession(endpoint, open.line, open.signal, (message, bytes) => {
      if (message.kind === 'response' && message.id === null) this.#answer(open, message)
      else this.#deliver(message, bytes)
    })
    this.#hasBegun = true
    // What comes before the answer waits for it.
    this.#session = opening.then(opened => (opened instanceof ServiceSession ? opened : null))
    const opened = await opening
    this.#hasBegun = opened instanceof ServiceSession
    return opened instanceof ServiceSession ? null : opened
  }

  async #post(
    open: OpenRequest,
    session: ServiceSession,
    mayRenew: boolean,
  ): Promise<BridgeFailure | null> {
    const end = await session.post(open.line, open.signal)
    if (end.kind !== 'head') return lostBy(end)
    const { statusCode = 0 } = end.answer
    let anonymous: ResponseMessage | null = null
    const { lastId, text } = await readAnswer(
      end.answer,
      this.#options.endpoint.guard,
      (message, bytes) => {
        if (message.kind === 'response' && message.id === null) anonymous = message
        else this.#deliver(message, bytes)
      },
    )
    if (open.isDone()) return null
    if (anonymous !== null) {
      if (statusCode === 404 && isSessionNotFound(anonymous)) {
        const next = mayRenew ? await this.#renew(session) : null
        return next === null ? NO_SESSION : this.#post(open, next, false)
      }
      return this.#answer(open, anonymous)
    }
    if (statusCode === 200 && lastId !== null) return this.#resume(open, session, lastId)
    // A call whose session is ended by the service gets an empty 502, from older services a 404.
    const isEnded = (statusCode === 502 || statusCode === 404) && text === ''
    const isCut = statusCode === 200 || isEnded
    return isCut ? CUT : refusedBy(end.answer, text)
  }

  /** An error without an id is this request's. */
  #answer({ message: { id } }: OpenRequest, answer: ResponseMessage): null {
    this.#options.toClient({ ...answer, id }, writeResponse(id, answer.outcome))
    return null
  }

  async #resume(
    open: OpenRequest,
    session: ServiceSession,
    from: string,
  ): Promise<BridgeFailure | null> {
    const { endpoint } = this.#options
    let lastId = from
    for (let attempts = 1; attempts <= RESUMPTIONS; attempts++) {
      await pause(endpoint.clock, RESUME_MS, open.signal)
      if (open.isDone()) return null
      const end = await session.listen(lastId, open.signal)
      if (end.kind !== 'head') continue
      const body = await readAnswer(end.answer, endpoint.guard, this.#deliver)
      if (open.isDone()) return null
      if (end.answer.statusCode !== 200) return CUT
      lastId = body.lastId ?? lastId
      if (body.hasEvents) attempts = 0
    }
    return CUT
  }

  async #notify(session: ServiceSession, line: JsonBytes, mayRenew: boolean): Promise<void> {
    const end = await session.post(line, this.#closing.signal)
    if (end.kind !== 'head') return
    const { statusCode } = end.answer
    await readAnswer(end.answer, this.#options.endpoint.guard, this.#deliver)
    const next = statusCode === 404 && mayRenew ? await this.#renew(session) : null
    if (next !== null) await this.#notify(next, line, false)
  }

  /** Reads what belongs to no request, and again whenever the stream is cut. */
  async #listen(session: ServiceSession): Promise<void> {
    const { endpoint } = this.#options
    const { signal } = session.ended
    const backoff = new Backoff(endpoint.clock)
    let lastId: string | null = null
    while (!signal.aborted) {
      const end = await session.listen(lastId, signal)
      if (end.kind === 'head') {
        const { statusCode } = end.answer
        if (statusCode === 200) backoff.connected()
        const body = await readAnswer(end.answer, endpoint.guard, this.#deliver)
        if (statusCode === 405) return
        lastId = statusCode === 400 ? null : (body.lastId ?? lastId)
        if (statusCode === 404 && !signal.aborted) await this.#renew(session)
      }
      if (!signal.aborted) await pause(endpoint.clock, backoff.next(), signal)
    }
  }

  /** Resolves to the session in the place of one that the service has ended; `null` without one. */
  #renew(ended: ServiceSession): Promise<ServiceSession | null> {
    const known = this.#renewals.get(ended)
    if (known !== undefined) return known
    const renewal = this.#open(ended)
    this.#renewals.set(ended, renewal)
    this.#session = renewal.then(next => {
      if (next === null) this.#renewals.delete(ended)
      return next ?? ended
    })
    return renewal
  }

  async #open(ended: ServiceSession): Promise<ServiceSession | null> {
    const { endpoint, write } = this.#options
    const { signal } = this.#closing
    const session = await openSession(endpoint, this.#script.handshake(), signal, () => {})
    if (!(session instanceof ServiceSession)) return null
    ended.ended.abort()
    for (const id of this.#asked.values()) {
      write(writeNotification(CANCELLED, Buffer.from(`{"requestId":${id.toString()}}`)))
    }
    this.#asked.clear()
    if (!this.#script.isInitialized) return session
    for (const line of this.#script.rest()) {
      const end = await session.post(line, signal)
      if (end.kind === 'head') await readAnswer(end.answer, endpoint.guard, () => {})
    }
    void this.#listen(session)
    // The client has the lists of the earlier session.
    for (const list of LISTS) {
      const about = objectMember(session.capabilities ?? EMPTY_OBJECT, list) ?? EMPTY_OBJECT
      if (member(about, 'listChanged')?.toString() !== 'true') continue
      write(writeNotification(`notifications/${list}/list_changed`, null))
    }
    return session
  }

  readonly #deliver = (message: Message, bytes: JsonBytes): void => {
    if (message.kind === 'request') this.#asked.set(String(message.id), Buffer.from(message.id))
    if (message.kind === 'notification' && message.method === CANCELLED) {
      const id = message.params === null ? undefined : member(message.params, 'requestId')
      this.#asked.delete(String(id))
    }
    this.#options.toClient(message, bytes)
  }
}

const BEFORE_HANDSHAKE: BridgeFailure = { text: 'The handshake, initialize, has to come first.' }

function isSessionNotFound({ outcome }: ResponseMessage): boolean {
  return outcome.kind === 'error' && member(outcome.error, 'code')?.toString() === SESSION_NOT_FOUND
}

/** Id of requests that the client does not see. */
const OWN_ID = jsonBytes('haversack-bridge')
const INITIALIZED = 'notifications/initialized'

/** What a client has told its session, so that another session can be told the same. */
class SessionScript {
  #initialize: JsonBytes | null = null
  #isInitialized = false
  #level: JsonBytes | null = null
  /** Parameters of subscriptions to resources, by URI. */
  readonly #watched = new Map<string, JsonBytes | null>()

  /** Whether the client is ready for what belongs to no request. */
  get isInitialized(): boolean {
    return this.#isInitialized
  }

  note({ method, params }: RequestMessage | NotificationMessage): void {
    if (method === 'initialize') this.#initialize = copyOf(params)
    if (method === INITIALIZED) this.#isInitialized = true
    if (method === 'logging/setLevel') this.#level = copyOf(params)
    const uri = params === null ? null : textMember(params, 'uri')
    if (uri === null) return
    if (method === 'resources/subscribe') this.#watched.set(uri, copyOf(params))
    if (method === 'resources/unsubscribe') this.#watched.delete(uri)
  }

  /** The client's own handshake. */
  handshake(): JsonBytes {
    return writeRequest(OWN_ID, 'initialize', this.#initialize)
  }

  /** What comes after the handshake, in its order. */
  rest(): JsonBytes[] {
    const level =
      this.#level === null ? [] : [writeRequest(OWN_ID, 'logging/setLevel', this.#level)]
    const watched = [...this.#watched.values()].map(params =>
      writeRequest(OWN_ID, 'resources/subscribe', params),
    )
    return [writeNotification(INITIALIZED, null), ...level, ...watched]
  }
}

/** A message is a part of a larger chunk, which would be kept with it. */
function copyOf(params: JsonBytes | null): JsonBytes | null {
  return params === null ? null : Buffer.from(params)
}
