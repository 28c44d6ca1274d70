import type { IncomingMessage } from 'node:http'
import { checkLargeJson } from '../../core/json/bytes/check-large-json.ts'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { Guard } from '../../proxy/guard.ts'
import { type Message, readMessage } from '../json-rpc.ts'
import type { Clock } from './clock.ts'
import type { Era } from './connection.ts'
import { ownIdOf } from './envelope.ts'
import { AFTER_ANSWER_MS, ERROR_BYTES, isEventStream, readWhole, SEND_MS } from './http-exchange.ts'
import { mirrorHeaders } from './http-headers.ts'
import { HttpSender, unauthorizedBy } from './http-sender.ts'
import { PING, PROBE_MS, sessionOf, sessionStateOf } from './http-session.ts'
import { type FollowEnd, followStream, readStream, type StreamEnd } from './http-stream.ts'
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

/** Attempts to go on with a cut stream of a call. */
const RESUMPTIONS = 5

/** The answer was cut. */
const CUT: LinkFailure = { kind: 'lost', hasRun: 'maybe', sawBytes: true }

interface Exchange {
  readonly controller: AbortController
  cancelEnd: () => void
}

/** Streamable HTTP: a POST for each message; its answer is one message or a stream of them. */
export class HttpLink implements Link {
  readonly #target: Extract<ServerTarget, { kind: 'http' }>
  readonly #events: LinkEvents
  readonly #limits: UpstreamLimits
  readonly #clock: Clock
  readonly #era: Era
  readonly #sender: HttpSender
  readonly #guard = new Guard(() => this.#gone('closed'))
  /** Requests without an answer, by id. */
  readonly #exchanges = new Map<number, Exchange>()
  readonly #closing = new AbortController()
  readonly #sends = new SendQueue(message => this.#sendOnce(message).catch(() => {}))
  #probing: Promise<'known' | 'gone'> | null = null
  /** Whether it has answered a request in this session: a new session would be like this one. */
  #hasAnswered = false
  #isGone = false

  /** @param version `null` for a legacy server, which names it in its handshake */
  constructor(
    target: Extract<ServerTarget, { kind: 'http' }>,
    events: LinkEvents,
    limits: UpstreamLimits,
    clock: Clock,
    version: string | null,
  ) {
    this.#target = target
    this.#events = events
    this.#limits = limits
    this.#clock = clock
    this.#era = version === null ? 'legacy' : 'modern'
    this.#sender = new HttpSender(target, version, this.#guard)
  }

  request(request: LinkRequest): void {
    const one: Exchange = { controller: new AbortController(), cancelEnd: () => {} }
    this.#exchanges.set(request.id, one)
    const bug: LinkFailure = { kind: 'malformed', detail: 'our own failure' }
    this.#post(request, one.controller.signal)
      .catch(() => bug)
      .then(failure => this.#end(request.id, one, failure))
      .catch(() => this.#gone('closed'))
  }

  send(message: JsonBytes): Promise<void> | null {
    return this.#era === 'modern' ? Promise.resolve() : this.#sends.add(message)
  }

  async #sendOnce(message: JsonBytes): Promise<void> {
    if (this.#closing.signal.aborted) return
    const controller = new AbortController()
    const cancel = this.#clock.after(SEND_MS, () => controller.abort())
    const signal = AbortSignal.any([controller.signal, this.#closing.signal])
    const end = await this.#sender.send('POST', {}, message, signal)
    if (end.kind === 'head') {
      const { statusCode = 0 } = end.answer
      const body = await readWhole(end.answer, this.#guard, ERROR_BYTES)
      const isTaken = statusCode >= 200 && statusCode < 300
      if (!isTaken && typeof body !== 'string') await this.#settle(statusCode, readMessage(body))
    }
    cancel()
  }

  drop(callId: number): boolean {
    const one = this.#exchanges.get(callId)
    this.#exchanges.delete(callId)
    one?.controller.abort()
    return one !== undefined && this.#era === 'legacy'
  }

  speak(protocolVersion: string): void {
    this.#sender.version = protocolVersion
  }

  listen(): void {
    if (this.#era === 'modern') return
    const follow = this.#follow(null, { lastId: null, retryMs: null }, this.#closing.signal)
    follow.then(end => this.#goneBy(end)).catch(() => this.#gone('closed'))
  }

  lastErrors(): string {
    return this.#sender.lastError
  }

  async close(): Promise<void> {
    const isHeld = this.#sender.session !== null && !this.#isGone
    this.#isGone = true
    if (isHeld) {
      const controller = new AbortController()
      const cancel = this.#clock.after(this.#limits.endMs, () => controller.abort())
      const end = await this.#sender.send('DELETE', {}, null, controller.signal)
      if (end.kind === 'head') end.answer.destroy()
      cancel()
    }
    this.#closing.abort()
    for (const callId of [...this.#exchanges.keys()]) this.drop(callId)
    this.#sender.destroy()
  }

  /** @returns why there is no answer; `null` if there is one */
  async #post(request: LinkRequest, signal: AbortSignal): Promise<LinkFailure | null> {
    const headers = this.#era === 'modern' ? mirrorHeaders(request) : {}
    const end = await this.#sender.send('POST', headers, request.message, signal)
    if (end.kind === 'failed') {
      if (end.reached && !signal.aborted) await this.#probe()
      return { kind: 'lost', hasRun: end.reached ? 'maybe' : 'no', sawBytes: false }
    }
    if (end.kind === 'refused') return { kind: 'malformed', detail: end.detail }
    const { answer } = end
    const status = answer.statusCode ?? 0
    const refusal = unauthorizedBy(answer, this.#target)
    if (refusal !== null) {
      answer.destroy()
      if (status === 403 && (await this.#settle(status, null)) === 'gone')
        return { kind: 'noSession' }
      return refusal
    }
    const isOk = status >= 200 && status < 300
    if (isOk && request.method === 'initialize') this.#sender.session = sessionOf(answer)
    return isOk && isEventStream(answer)
      ? await this.#stream(answer, request.id, signal)
      : await this.#single(answer, request.id, isOk)
  }

  async #single(answer: IncomingMessage, id: number, isOk: boolean): Promise<LinkFailure | null> {
    const maxBytes = isOk ? this.#limits.messageBytes : ERROR_BYTES
    const body = await readWhole(answer, this.#guard, maxBytes)
    if (body === 'cut') return CUT
    if (body === 'too large') return TOO_LARGE
    const status = answer.statusCode ?? 0
    await checkLargeJson(body)
    const message = readMessage(body)
    const state = sessionStateOf(status, message)
    if (state === 'gone' && this.#sender.session !== null) return { kind: 'noSession' }
    // Before its client knows: the next call finds a session that lives.
    if (state === 'doubtful') await this.#probe()
    if (message?.kind === 'response') {
      const isAnonymous = message.id === null
      this.#onMessage(isAnonymous ? { ...message, id: Buffer.from(String(id)) } : message, id)
      if (!this.#exchanges.has(id)) return null
    }
    return failureOf(status)
  }

  /** What an answer means for the session, and what follows of it. */
  async #settle(status: number, message: Message | null): Promise<'known' | 'gone'> {
    if (this.#sender.session === null) return 'known'
    const state = sessionStateOf(status, message)
    if (state === 'doubtful') return this.#probe()
    if (state === 'gone') this.#gone('noSession')
    return state
  }

  /** Asks a server of which it is doubtful whether it knows the session. */
  #probe(): Promise<'known' | 'gone'> {
    if (this.#sender.session === null || !this.#hasAnswered) return Promise.resolve('known')
    this.#probing ??= this.#ping().finally(() => {
      this.#probing = null
    })
    return this.#probing
  }

  async #ping(): Promise<'known' | 'gone'> {
    const controller = new AbortController()
    const cancel = this.#clock.after(PROBE_MS, () => controller.abort())
    const signal = AbortSignal.any([controller.signal, this.#closing.signal])
    const end = await this.#sender.send('POST', {}, PING, signal)
    const isAnswered = end.kind === 'head' && (await this.#answersPing(end.answer))
    cancel()
    if (isAnswered || signal.aborted) return 'known'
    this.#gone(end.kind === 'failed' && !end.reached ? 'unreachable' : 'noSession')
    return 'gone'
  }

  async #answersPing(answer: IncomingMessage): Promise<boolean> {
    const status = answer.statusCode ?? 0
    if (isEventStream(answer) && status === 200) {
      let found: Message | null = null
      await readStream(answer, {
        ...this.#reading(null),
        events: {
          onIgnored() {},
          onMessage(message) {
            if (message.kind === 'response') found = message
          },
        },
        isDone: () => found !== null,
      })
      return sessionStateOf(status, found) === 'known'
    }
    const body = await readWhole(answer, this.#guard, ERROR_BYTES)
    return typeof body !== 'string' && sessionStateOf(status, readMessage(body)) === 'known'
  }

  async #stream(
    answer: IncomingMessage,
    callId: number,
    signal: AbortSignal,
  ): Promise<LinkFailure | null> {
    const stream = await readStream(answer, this.#reading(callId))
    if (!this.#exchanges.has(callId)) return null
    if (stream.kind === 'too large') return TOO_LARGE
    if (this.#era === 'modern' || stream.lastId === null) return CUT
    const end = await this.#follow(callId, stream, signal)
    if (!this.#exchanges.has(callId)) return null
    this.#goneBy(end)
    return end === 'too large' ? TOO_LARGE : CUT
  }

  #follow(
    callId: number | null,
    from: Pick<StreamEnd, 'lastId' | 'retryMs'>,
    signal: AbortSignal,
  ): Promise<FollowEnd> {
    const isResumed = callId !== null
    return followStream({
      ...this.#reading(callId),
      clock: this.#clock,
      signal,
      from,
      isResumed,
      mostAttempts: isResumed ? RESUMPTIONS : Number.POSITIVE_INFINITY,
      get: lastId =>
        this.#sender.send('GET', lastId === null ? {} : { 'last-event-id': lastId }, null, signal),
    })
  }

  #reading(callId: number | null) {
    const isDone = () => (callId === null ? this.#isGone : !this.#exchanges.has(callId))
    const events = {
      onIgnored: () => this.#events.onIgnored(),
      onMessage: (message: Message) => this.#onMessage(message, callId),
    }
    return { events, guard: this.#guard, callId, maxBytes: this.#limits.messageBytes, isDone }
  }

  /** An answer may come on any stream of a legacy server. */
  #onMessage(message: Message, callId: number | null): void {
    const id = message.kind === 'response' ? ownIdOf(message.id) : null
    if (message.kind === 'response' && message.outcome.kind === 'result') {
      this.#hasAnswered = this.#sender.version !== null
    }
    const one = id === null ? undefined : this.#exchanges.get(id)
    if (id !== null && one !== undefined) {
      this.#exchanges.delete(id)
      one.cancelEnd = this.#clock.after(AFTER_ANSWER_MS, () => one.controller.abort())
    }
    this.#events.onMessage(message, callId)
  }

  #end(id: number, one: Exchange, failure: LinkFailure | null): void {
    one.cancelEnd()
    if (this.#exchanges.get(id) !== one || failure === null) return
    this.#exchanges.delete(id)
    this.#events.onFailed(id, failure)
    if (failure.kind === 'noSession') this.#gone('noSession')
    if (failure.kind === 'lost' && failure.hasRun === 'no') this.#gone('unreachable')
  }

  #goneBy(end: FollowEnd): void {
    if (end === 'unreachable') this.#gone('unreachable')
    if (end === 'no session' && this.#sender.session !== null) this.#gone('noSession')
    if (end === 'doubtful') void this.#probe()
  }

  #gone(reason: LinkGone): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#events.onGone(reason)
  }
}
