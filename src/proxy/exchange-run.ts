import type { ClientRequest, IncomingMessage, InformationEvent, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { flushHead, isAscii, writeAnswerHead } from './answer-head.ts'
import { type AnswerObserver, harmless } from './answer-observer.ts'
import type { AnswerRelay, RelayTarget } from './answer-relay.ts'
import { signedHeaders } from './aws-signature.ts'
import { EndGate } from './end-gate.ts'
import type { Exchange, ExchangeContext, ForwardOptions, Upgrade } from './exchange.ts'
import { ExchangeRecord } from './exchange-record.ts'
import { FAILURES, type Failure, reportFailure } from './failures.ts'
import { Guard } from './guard.ts'
import { type RequestBody, requestHeaders } from './headers.ts'
import { InterimAnswers } from './interim-answers.ts'
import { PlainRelay } from './plain-relay.ts'
import { bodyOf, pumpBody, whenFinished } from './request-body.ts'
import { RoundRelay } from './round-relay.ts'
import { type Phase, TimeLimits } from './time-limits.ts'
import { eventWhenConnected, wasStale } from './upstream.ts'

/** Replaces a body that is not needed any more. */
const NOT_HELD: RequestBody = { kind: 'none' }

/** One request on its way through: to the upstream, and its answer back. */
export class ExchangeRun {
  readonly #context: ExchangeContext
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  readonly #options: Omit<ForwardOptions, 'body'>
  #body: RequestBody
  readonly #upgrade: Upgrade | null
  readonly #guard = new Guard(error => this.#threw(error))
  readonly #interim: InterimAnswers
  readonly #limits: TimeLimits
  readonly #endGate: EndGate
  readonly #record: ExchangeRecord
  #request: ClientRequest | null = null
  /** Bytes that had been read on the request's connection before. */
  #readBefore = 0
  #answer: IncomingMessage | null = null
  readonly #observer: Required<AnswerObserver>
  readonly #relay: AnswerRelay
  #endTunnel: (() => void) | null = null
  /** Whether the answer to the client is complete or given up. It may still be on its way out. */
  #over = false

  constructor(
    context: ExchangeContext,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    options: ForwardOptions,
    upgrade: Upgrade | null = null,
  ) {
    this.#context = context
    this.#incoming = incoming
    this.#outgoing = outgoing
    const { body, ...rest } = options
    this.#options = rest
    this.#body = bodyOf(incoming, body)
    this.#upgrade = upgrade
    this.#observer = harmless(options.onAnswer)
    this.#record = new ExchangeRecord()
    this.#interim = new InterimAnswers(incoming, outgoing)
    this.#limits = new TimeLimits(context.limits, this.#guard.wrap(this.#late.bind(this)))
    const opened = this.#guard.wrap(() => this.#completeRead())
    this.#endGate = new EndGate(options.holdEnd, opened)
    const { rounds } = options
    const target = this.#target()
    const plain = new PlainRelay(target, this.#endGate)
    this.#relay = rounds === undefined ? plain : new RoundRelay(rounds, target, plain)
  }

  /** Runs it to its end. Never rejects. */
  run(): Promise<Exchange> {
    const outgoing = this.#outgoing
    const guard = this.#guard
    guard.on(outgoing, 'finish', () => this.#settle())
    guard.on(outgoing, 'close', () => this.#left())
    // The server would end a quiet connection. A model may be thinking; we have our own limits.
    guard.on(outgoing, 'timeout', () => undefined)
    // These two are followed by the close of the answer.
    guard.on(outgoing, 'error', () => outgoing.destroy())
    guard.on(this.#incoming, 'error', () => outgoing.destroy())
    guard.wrap(() => this.#start())()
    return this.#record.closed
  }

  /** Ends it now. */
  end(): void {
    this.#guard.wrap(() => {
      if (this.#endTunnel !== null) return this.#endTunnel()
      this.#fail(FAILURES.closing)
      // A client that does not read is not waited for.
      if (this.#answer !== null) this.#outgoing.destroy()
    })()
  }

  #start(): void {
    if (this.#outgoing.destroyed) this.#left()
    else if (this.#upgrade !== null && this.#body.kind !== 'none') this.#fail(FAILURES.head)
    else if (!this.#over) this.#send(false)
  }

  #send(fresh: boolean): void {
    const { upstream } = this.#context
    const path = upstream.path(this.#options.path)
    if (path === null) return void this.#fail(FAILURES.target)
    this.#limits.enter('connect')
    const { method = 'GET', rawHeaders } = this.#incoming
    let request: ClientRequest
    try {
      const headers = requestHeaders(rawHeaders, {
        host: upstream.host,
        method,
        body: this.#body,
        keepExpect: this.#awaitsContinue && isAscii(rawHeaders),
        keepUpgrade: this.#upgrade !== null,
        keepExtensions: this.#upgrade?.keepExtensions ?? true,
        readsAnswer: this.#options.rounds !== undefined,
      })
      const signed = signedHeaders(this.#options.sign, { method, path, headers, body: this.#body })
      request = upstream.request({ method, path, headers: signed }, fresh)
    } catch {
      return void this.#fail(FAILURES.head)
    }
    this.#request = request
    const guard = this.#guard
    guard.on(request, 'socket', (socket: Socket) => this.#assigned(socket, request.reusedSocket))
    guard.on(request, 'continue', () => this.#continue())
    guard.on(request, 'information', (information: InformationEvent) => {
      if (!this.#over) this.#interim.pass(information)
    })
    guard.on(request, 'response', (answer: IncomingMessage) => this.#take(answer))
    guard.on(request, 'upgrade', this.#tunnel.bind(this))
    guard.on(request, 'finish', () => {
      if (this.#answer === null && !this.#over) this.#limits.enter('headers')
    })
    guard.on(request, 'error', (error: Error) => this.#requestFailed(request, error))
    this.#sendBody(request)
  }

  #sendBody(request: ClientRequest): void {
    if (this.#body.kind === 'none') request.end()
    else if (this.#body.kind === 'whole') {
      this.#record.sent = this.#body.bytes.length
      request.end(this.#body.bytes)
    } else if (this.#awaitsContinue) flushHead(request)
    else this.#pump(request)
  }

  get #awaitsContinue(): boolean {
    const { kind } = this.#body
    return this.#options.awaitsContinue === true && (kind === 'sized' || kind === 'chunked')
  }

  #assigned(socket: Socket, reused: boolean): void {
    this.#readBefore = socket.bytesRead
    const connected = () => this.#limits.enter(this.#awaitsContinue ? 'continue' : 'send')
    const event = reused ? null : eventWhenConnected(socket)
    if (event === null) connected()
    else this.#guard.once(socket, event, connected)
  }

  /** The upstream wants the body, or does not know `Expect: 100-continue`. */
  #continue(): void {
    if (this.#limits.phase !== 'continue' || this.#over || this.#request === null) return
    this.#limits.enter('send')
    this.#outgoing.writeContinue()
    this.#pump(this.#request)
  }

  #pump(request: ClientRequest): void {
    pumpBody(this.#incoming, request, {
      guard: this.#guard,
      over: () => this.#over,
      moved: bytes => {
        this.#record.sent += bytes
        this.#limits.progress()
      },
    })
    // On the next tick, so that bytes that came in with the head leave together with it.
    this.#guard.nextTick(() => {
      if (this.#record.sent === 0 && !this.#over) flushHead(request)
    })
  }

  #take(answer: IncomingMessage): void {
    if (this.#over) return
    this.#begin(answer)
    this.#relay.take(answer)
    this.#limits.enter('body')
  }

  #target(): RelayTarget {
    return {
      outgoing: this.#outgoing,
      guard: this.#guard,
      observer: this.#observer,
      isOver: () => this.#over,
      moved: bytes => {
        this.#record.received += bytes
        this.#limits.progress()
        return this.#record.received
      },
      writeHead: (answer, reframed) => {
        const options = { extra: this.#options.extraHeaders, ...(reframed && { reframed }) }
        return writeAnswerHead(this.#incoming, this.#outgoing, answer, options)
      },
      sendAgain: body => {
        this.#answer = null
        this.#record.retried = false
        this.#body = { kind: 'whole', bytes: body }
        this.#send(false)
      },
      ready: () => {
        if (this.#endGate.isOpen) this.#completeRead()
      },
      fail: failure => this.#fail(failure),
    }
  }

  /** Completes an answer of which all was read; returns whether it was. */
  #completeRead(): boolean {
    if (this.#over || !this.#relay.complete()) return false
    this.#over = true
    this.#release()
    return true
  }

  /** Stops the request to the upstream, and stops listening to the client. */
  #release(): void {
    this.#limits.enter('body')
    const answered = this.#answer?.complete === true && this.#request?.writableFinished === true
    if (!answered) this.#request?.destroy()
    this.#incoming.resume()
  }

  #requestFailed(request: ClientRequest, error: NodeJS.ErrnoException): void {
    // With an answer begun, its own end reports it.
    if (request !== this.#request || this.#over || this.#answer !== null) return
    if (this.#isRepeatable(request, error)) {
      this.#record.retried = true
      this.#send(true)
      return
    }
    this.#record.error = error.code ?? null
    const isConnecting = this.#limits.phase === 'connect' || error.syscall === 'connect'
    if (isConnecting) this.#fail(FAILURES.unreachable)
    else this.#fail(error.code?.startsWith('HPE_') ? FAILURES.malformed : FAILURES.broken)
  }

  /** Whether the request did not reach the upstream, and its body is there to be sent again. */
  #isRepeatable(request: ClientRequest, error: NodeJS.ErrnoException): boolean {
    if (this.#record.retried || !['none', 'whole'].includes(this.#body.kind)) return false
    return wasStale(request, this.#readBefore, error)
  }

  #late(phase: Phase | 'total'): void {
    // A client that does not read gets no report, either.
    if (phase === 'continue') this.#continue()
    else if (this.#over || this.#outgoing.writableNeedDrain) this.#outgoing.destroy()
    else if (phase === 'connect') this.#fail(FAILURES.connectTimeout)
    else if (phase === 'send' && !this.#incoming.complete && !this.#request?.writableNeedDrain) {
      this.#fail(FAILURES.slowClient)
    } else this.#fail(FAILURES.timeout)
  }

  #fail(failure: Failure): void {
    // An answer of which only the end was kept back is complete.
    if (this.#over || this.#completeRead()) return
    this.#over = true
    this.#record.failed(failure)
    const { extraHeaders = {} } = this.#options
    const { vendor } = this.#context
    const { framing } = this.#relay
    reportFailure(this.#outgoing, failure, { vendor, extraHeaders, framing })
    this.#release()
  }

  /** A bug: it ends this exchange, and nothing else. */
  #threw(error: unknown): void {
    this.#context.onBug(error)
    try {
      if (this.#over) this.#abandon()
      else this.#fail(FAILURES.internal)
    } catch {
      this.#abandon()
    }
  }

  /** Destroys both connections. */
  #abandon(): void {
    this.#over = true
    this.#record.failed(FAILURES.internal)
    this.#endTunnel?.()
    for (const stream of [this.#request, this.#outgoing, this.#incoming]) stream?.destroy()
    this.#settle()
  }

  /** Handles the end of the connection to the client, or of the answer. */
  #left(): void {
    if (this.#outgoing.writableFinished) return
    if (this.#record.outcome === 'answered') this.#record.outcome = 'aborted'
    this.#over = true
    this.#request?.destroy()
    this.#settle()
  }

  #tunnel(answer: IncomingMessage, socket: Duplex, head: Buffer): void {
    const upgrade = this.#upgrade
    if (this.#over || upgrade === null || !upgrade.accepts(answer)) {
      // The client did not ask for it.
      socket.destroy()
      this.#fail(FAILURES.malformed)
      return
    }
    this.#begin(answer)
    this.#observer.head(101, answer.rawHeaders)
    this.#limits.close()
    this.#over = true
    // This is used until the tunnel stands.
    this.#endTunnel = () => socket.destroy()
    const upgraded = { answer, upstream: socket, head, guard: this.#guard }
    this.#endTunnel = upgrade.join(upgraded, (outcome, sent, received) => {
      if (this.#record.outcome === 'answered') this.#record.outcome = outcome
      this.#record.sent = sent
      this.#record.received = received
      this.#settle()
    })
  }

  #begin(answer: IncomingMessage): void {
    this.#answer = answer
    // It is not sent again, and an answer may stream for an hour.
    this.#body = NOT_HELD
    this.#record.answered()
    whenFinished(this.#request, this.#options.onBodySent, this.#guard)
  }

  #settle(): void {
    this.#limits.close()
    this.#relay.close()
    const { headersSent, statusCode } = this.#outgoing
    this.#record.close(this.#endTunnel !== null ? 101 : headersSent ? statusCode : null)
  }
}
