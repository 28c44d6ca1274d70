import { isUtf8 } from 'node:buffer'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { Guard } from '../../proxy/guard.ts'
import { type Message, readMessage } from '../json-rpc.ts'
import type { Clock } from './clock.ts'
import { ownIdOf } from './envelope.ts'
import { AFTER_ANSWER_MS, ERROR_BYTES, isEventStream, readWhole, SEND_MS } from './http-exchange.ts'
import { HttpSender, unauthorizedBy } from './http-sender.ts'
import { PING, PROBE_MS, sessionStateOf } from './http-session.ts'
import { readStream } from './http-stream.ts'
import {
  failureOf,
  type Link,
  type LinkEvents,
  type LinkFailure,
  type LinkGone,
  type LinkRequest,
  TOO_LARGE,
} from './link.ts'
import type { ServerTarget, UpstreamLimits } from './options.ts'
import { SendQueue } from './send-queue.ts'

type HttpTarget = Extract<ServerTarget, { kind: 'http' }>

const ADDRESS_BYTES = 4096

interface SseExchange {
  readonly controller: AbortController
  isSent: boolean
}

/**
 * HTTP+SSE of 2024-11-05: the stream of one GET carries all messages of the server, and is its
 * session. Its first event names the address that each of ours is posted to.
 */
export class SseLink implements Link {
  readonly #target: HttpTarget
  readonly #events: LinkEvents
  readonly #limits: UpstreamLimits
  readonly #clock: Clock
  readonly #sender: HttpSender
  readonly #guard = new Guard(() => this.#gone('closed'))
  /** Requests without an answer, by id. */
  readonly #exchanges = new Map<number, SseExchange>()
  readonly #closing = new AbortController()
  readonly #sends = new SendQueue(message =>
    this.#postAlone(message, SEND_MS).then(
      () => {},
      () => {},
    ),
  )
  /** The address for messages, or why there is none. Never rejects. */
  readonly #address: Promise<URL | LinkFailure>
  #probing: Promise<LinkFailure | null> | null = null
  #isGone = false

  constructor(target: HttpTarget, events: LinkEvents, limits: UpstreamLimits, clock: Clock) {
    this.#target = target
    this.#events = events
    this.#limits = limits
    this.#clock = clock
    this.#sender = new HttpSender(target, null, this.#guard)
    const { promise, resolve } = Promise.withResolvers<URL | LinkFailure>()
    this.#address = promise
    const none = noStream('its stream names no address for messages')
    const cancel = clock.after(limits.probeMs, () => resolve(none))
    void promise.then(cancel)
    this.#follow(resolve)
      .catch(() => none)
      .then(failure => this.#ended(resolve, failure))
      .catch(() => this.#gone('closed'))
  }

  request({ id, message }: LinkRequest): void {
    const one: SseExchange = { controller: new AbortController(), isSent: false }
    this.#exchanges.set(id, one)
    const bug: LinkFailure = { kind: 'malformed', detail: 'our own failure' }
    this.#post(message, one.controller.signal, one)
      .catch(() => bug)
      .then(failure => this.#failed(id, one, failure))
      .catch(() => this.#gone('closed'))
  }

  send(message: JsonBytes): Promise<void> | null {
    return this.#sends.add(message)
  }

  drop(callId: number): boolean {
    const one = this.#exchanges.get(callId)
    this.#exchanges.delete(callId)
    one?.controller.abort()
    return one?.isSent === true
  }

  speak(protocolVersion: string): void {
    this.#sender.version = protocolVersion
  }

  listen(): void {}

  lastErrors(): string {
    return this.#sender.lastError
  }

  close(): Promise<void> {
    this.#isGone = true
    this.#closing.abort()
    for (const callId of [...this.#exchanges.keys()]) this.drop(callId)
    this.#sender.destroy()
    return Promise.resolve()
  }

  /**
   * Reads the stream to its end.
   * @param name takes the address that it names first, or why it may not be used
   * @returns what the requests under way have in place of an answer
   */
  async #follow(name: (address: URL | LinkFailure) => void): Promise<LinkFailure> {
    const end = await this.#sender.send('GET', {}, null, this.#closing.signal)
    if (end.kind === 'failed') return { kind: 'lost', hasRun: 'no', sawBytes: false }
    if (end.kind === 'refused') return { kind: 'malformed', detail: end.detail }
    const { answer } = end
    const { statusCode = 0 } = answer
    if (statusCode !== 200 || !isEventStream(answer)) {
      answer.destroy()
      return unauthorizedBy(answer, this.#target) ?? noStream(`HTTP ${statusCode} without a stream`)
    }
    const stream = await readStream(answer, {
      events: {
        onIgnored: () => this.#events.onIgnored(),
        onMessage: message => this.#onMessage(message),
      },
      guard: this.#guard,
      callId: null,
      maxBytes: this.#limits.messageBytes,
      isDone: () => this.#isGone,
      onAddress: address => name(addressOf(address, this.#target.url)),
    })
    return stream.kind === 'too large'
      ? TOO_LARGE
      : { kind: 'lost', hasRun: 'maybe', sawBytes: false }
  }

  /** The session ended with its stream. */
  #ended(name: (address: LinkFailure) => void, failure: LinkFailure): void {
    name(failure)
    if (this.#isGone) return
    for (const [id, one] of [...this.#exchanges]) {
      // Those that wait for the address learn it there.
      if (one.isSent) this.#failed(id, one, failure)
    }
    this.#gone('noSession')
  }

  /**
   * @param one the request that it is; absent: it has no answer on the stream
   * @returns why the server did not take it; `null` if it did
   */
  async #post(
    message: JsonBytes,
    signal: AbortSignal,
    one?: SseExchange,
  ): Promise<LinkFailure | null> {
    const address = await this.#address
    if (!(address instanceof URL)) return address
    if (this.#isGone) return { kind: 'noSession' }
    if (signal.aborted) return null
    if (one !== undefined) one.isSent = true
    const end = await this.#sender.send('POST', {}, message, signal, address)
    if (end.kind === 'failed') {
      return { kind: 'lost', hasRun: end.reached ? 'maybe' : 'no', sawBytes: false }
    }
    if (end.kind === 'refused') return { kind: 'malformed', detail: end.detail }
    const { statusCode: status = 0 } = end.answer
    const body = await readWhole(end.answer, this.#guard, ERROR_BYTES)
    if (status >= 200 && status < 300) return null
    const refusal = unauthorizedBy(end.answer, this.#target)
    if (refusal !== null) return refusal
    if (status === 404) return { kind: 'noSession' }
    if (message !== PING)
      await this.#settle(status, typeof body === 'string' ? null : readMessage(body))
    return failureOf(status)
  }

  /** Posts what has no answer that is waited for. */
  async #postAlone(message: JsonBytes, limitMs: number): Promise<LinkFailure | null> {
    const controller = new AbortController()
    const cancel = this.#clock.after(limitMs, () => controller.abort())
    const signal = AbortSignal.any([controller.signal, this.#closing.signal])
    const failure = await this.#post(message, signal)
    cancel()
    if (failure?.kind === 'noSession') this.#gone('noSession')
    return failure
  }

  /** Ends a session that the server does not know any more. */
  async #settle(status: number, message: Message | null): Promise<void> {
    const state = sessionStateOf(status, message)
    if (state === 'gone') this.#gone('noSession')
    if (state !== 'doubtful') return
    this.#probing ??= this.#postAlone(PING, PROBE_MS).finally(() => {
      this.#probing = null
    })
    if ((await this.#probing) !== null) this.#gone('noSession')
  }

  #onMessage(message: Message): void {
    const id = message.kind === 'response' ? ownIdOf(message.id) : null
    const one = id === null ? undefined : this.#exchanges.get(id)
    if (id !== null && one !== undefined) {
      this.#exchanges.delete(id)
      this.#clock.after(AFTER_ANSWER_MS, () => one.controller.abort())
    }
    this.#events.onMessage(message, null)
  }

  #failed(id: number, one: SseExchange, failure: LinkFailure | null): void {
    if (this.#exchanges.get(id) !== one || failure === null) return
    this.#exchanges.delete(id)
    one.controller.abort()
    this.#events.onFailed(id, failure)
    if (failure.kind === 'noSession') this.#gone('noSession')
    if (failure.kind === 'lost' && failure.hasRun === 'no') this.#gone('unreachable')
  }

  #gone(reason: LinkGone): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#events.onGone(reason)
  }
}

/**
 * The address for messages. Only its path and query are the server's: another origin may be a
 * metadata address, and must not see our credentials.
 */
function addressOf(named: JsonBytes, url: URL): URL | LinkFailure {
  const isText = named.length <= ADDRESS_BYTES && isUtf8(named)
  const found = isText ? URL.parse(named.toString(), url) : null
  if (found === null) return { kind: 'malformed', detail: 'its address for messages is none' }
  if (found.origin !== url.origin) {
    return { kind: 'malformed', detail: 'its address for messages is at another origin' }
  }
  const address = new URL(url)
  address.pathname = found.pathname
  address.search = found.search
  address.hash = ''
  return address
}

/** It is no server of this transport; counts like the refusal of the POST before. */
function noStream(detail: string): LinkFailure {
  return { kind: 'malformed', detail, status: 404 }
}
