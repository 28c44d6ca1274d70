import type { ClientRequest, IncomingMessage, InformationEvent, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type AnswerFraming, writeAnswerHead } from './answer-head.ts'
import { type AnswerObserver, harmless } from './answer-observer.ts'
import { EndGate } from './end-gate.ts'
import type { Exchange, ExchangeContext, ForwardOptions, Upgrade } from './exchange.ts'
import { FAILURES, type Failure, type Outcome } from './failures.ts'
import { flushHead, isAscii } from './flush-head.ts'
import { answerHeaders, pairs, type RequestBody, requestHeaders } from './headers.ts'
import { reportFailure } from './report-failure.ts'
import { bodyOf, pumpBody } from './request-body.ts'
import { type Phase, TimeLimits } from './time-limits.ts'
import { eventWhenConnected } from './upstream.ts'

/** In the place of a body that is not needed any more. */
const NOT_HELD: RequestBody = { kind: 'none' }

/** One request on its way through: to the upstream, and its answer back. */
export class ExchangeRun {
  readonly #context: ExchangeContext
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  readonly #options: Omit<ForwardOptions, 'body'>
  #body: RequestBody
  readonly #upgrade: Upgrade | null
  readonly #limits: TimeLimits
  readonly #endGate: EndGate
  readonly #started: number
  readonly #done = Promise.withResolvers<Exchange>()
  #request: ClientRequest | null = null
  /** What had come in on the request's connection before. */
  #readBefore = 0
  #answer: IncomingMessage | null = null
  readonly #observer: Required<AnswerObserver>
  /** Of the head that the client was sent. */
  #framing: AnswerFraming | null = null
  #endTunnel: (() => void) | null = null
  #outcome: Outcome = 'answered'
  #error: string | null = null
  #sent = 0
  #received = 0
  #firstByteMs: number | null = null
  #retried = false
  /** The answer to the client is complete or given up; it may still be on its way out. */
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
    this.#started = context.now()
    this.#limits = new TimeLimits(context.limits, phase => this.#late(phase))
    this.#endGate = new EndGate(options.holdEnd, () => this.#completeRead())
  }

  /** Runs it to its end. Never rejects. */
  run(): Promise<Exchange> {
    const outgoing = this.#outgoing
    outgoing.on('finish', () => this.#settle())
    outgoing.on('close', () => this.#left())
    // The server would end a quiet connection; here, a model may be thinking, and the limits are our own.
    outgoing.on('timeout', () => undefined)
    // These two are followed by the close of the answer.
    outgoing.on('error', () => outgoing.destroy())
    this.#incoming.on('error', () => outgoing.destroy())
    if (outgoing.destroyed) this.#left()
    else if (this.#upgrade !== null && this.#body.kind !== 'none') this.#fail(FAILURES.head)
    else if (!this.#over) this.#send(false)
    return this.#done.promise
  }

  /** Ends it now. */
  end(): void {
    if (this.#endTunnel !== null) {
      this.#endTunnel()
      return
    }
    this.#fail(FAILURES.closing)
    // Nobody waits for a client that does not read.
    if (this.#answer !== null) this.#outgoing.destroy()
  }

  #send(fresh: boolean): void {
    const { upstream } = this.#context
    const path = upstream.path(this.#options.path)
    if (path === null) {
      this.#fail(FAILURES.target)
      return
    }
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
      })
      request = upstream.request({ method, path, headers }, fresh)
    } catch {
      this.#fail(FAILURES.head)
      return
    }
    this.#request = request
    request.on('socket', socket => this.#assigned(socket, request.reusedSocket))
    request.on('continue', () => this.#continue())
    request.on('information', information => this.#inform(information))
    request.on('response', answer => this.#relay(answer))
    request.on('upgrade', (answer, socket, head) => this.#tunnel(answer, socket, head))
    request.on('finish', () => {
      if (this.#answer === null && !this.#over) this.#limits.enter('headers')
    })
    request.on('error', error => this.#requestFailed(request, error))
    this.#sendBody(request)
  }

  #sendBody(request: ClientRequest): void {
    if (this.#body.kind === 'none') request.end()
    else if (this.#body.kind === 'whole') {
      this.#sent = this.#body.bytes.length
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
    else socket.once(event, connected)
  }

  /** The upstream wants the body, or does not know of the question. */
  #continue(): void {
    if (this.#limits.phase !== 'continue' || this.#over || this.#request === null) return
    this.#limits.enter('send')
    this.#outgoing.writeContinue()
    this.#pump(this.#request)
  }

  #pump(request: ClientRequest): void {
    pumpBody(this.#incoming, request, {
      over: () => this.#over,
      moved: bytes => {
        this.#sent += bytes
        this.#limits.progress()
      },
    })
    // Not now: what came in with the head leaves with it.
    process.nextTick(() => {
      if (this.#sent === 0 && !this.#over) flushHead(request)
    })
  }

  /** Passes an interim answer on, where the client's protocol and this Node have such. */
  #inform({ statusCode, rawHeaders }: InformationEvent): void {
    const outgoing = this.#outgoing
    if (statusCode === 100 || outgoing.headersSent || this.#over) return
    if (this.#incoming.httpVersion !== '1.1' || !('writeInformation' in outgoing)) return
    outgoing.writeInformation(statusCode, answerHeaders(rawHeaders, {}))
  }

  #relay(answer: IncomingMessage): void {
    if (this.#over) return
    this.#begin(answer)
    const outgoing = this.#outgoing
    this.#framing = writeAnswerHead(this.#incoming, outgoing, answer, this.#options.extraHeaders)
    if (this.#framing === null) {
      this.#fail(FAILURES.malformed)
      return
    }
    this.#observer.head(answer.statusCode ?? 0, answer.rawHeaders)
    this.#limits.enter('body')
    answer.on('data', (chunk: Buffer) => this.#pass(answer, chunk))
    outgoing.on('drain', () => {
      this.#limits.progress()
      answer.resume()
    })
    answer.on('end', () => {
      if (this.#endGate.isOpen) this.#complete(answer)
    })
    answer.on('error', () => this.#fail(FAILURES.broken))
    answer.on('close', () => {
      if (!answer.complete) this.#fail(FAILURES.broken)
    })
    // Not now: what came in with the head leaves with it.
    process.nextTick(() => {
      if (this.#received === 0 && !this.#over) flushHead(outgoing)
    })
  }

  #pass(answer: IncomingMessage, chunk: Buffer): void {
    if (this.#over) return
    this.#received += chunk.length
    this.#limits.progress()
    this.#framing?.events?.follow(chunk)
    const isLast = this.#received === Number(answer.headers['content-length'])
    if (!this.#outgoing.write(isLast ? this.#endGate.passLast(chunk) : chunk)) answer.pause()
    this.#observer.chunk(chunk)
  }

  /** Completes an answer of which all was read; gives whether it was. */
  #completeRead(): boolean {
    const answer = this.#answer
    if (this.#over || answer?.readableEnded !== true) return false
    this.#complete(answer)
    return true
  }

  #complete(answer: IncomingMessage): void {
    if (this.#over || !answer.complete) return
    this.#over = true
    if (this.#outgoing.chunkedEncoding) this.#outgoing.addTrailers(pairs(answer.rawTrailers))
    this.#outgoing.end(this.#endGate.kept)
    this.#release()
  }

  /** Nothing more is wanted of the upstream, and nothing more of the client is listened to. */
  #release(): void {
    this.#limits.enter('body')
    const answered = this.#answer?.complete === true && this.#request?.writableFinished === true
    if (!answered) this.#request?.destroy()
    this.#incoming.resume()
  }

  #requestFailed(request: ClientRequest, error: NodeJS.ErrnoException): void {
    // With an answer begun, its own end tells.
    if (request !== this.#request || this.#over || this.#answer !== null) return
    if (this.#isStale(request, error)) {
      this.#retried = true
      this.#send(true)
      return
    }
    this.#error = error.code ?? null
    if (this.#limits.phase === 'connect') this.#fail(FAILURES.unreachable)
    else this.#fail(error.code?.startsWith('HPE_') ? FAILURES.malformed : FAILURES.broken)
  }

  /** Whether a kept connection was closed by the upstream before it read the request, and the body is there to be sent again. */
  #isStale(request: ClientRequest, { code }: NodeJS.ErrnoException): boolean {
    const { kind } = this.#body
    const repeatable =
      request.reusedSocket && !this.#retried && (kind === 'none' || kind === 'whole')
    const untouched = request.socket?.bytesRead === this.#readBefore
    return repeatable && untouched && (code === 'ECONNRESET' || code === 'EPIPE')
  }

  #late(phase: Phase | 'total'): void {
    // A client that does not read is not told, either.
    if (phase === 'continue') this.#continue()
    else if (this.#over || this.#outgoing.writableNeedDrain) this.#outgoing.destroy()
    else if (phase === 'connect') this.#fail(FAILURES.connectTimeout)
    else if (phase === 'send' && !this.#incoming.complete && !this.#request?.writableNeedDrain) {
      this.#fail(FAILURES.slowClient)
    } else this.#fail(FAILURES.timeout)
  }

  #fail(failure: Failure): void {
    // What only its end was kept back of is whole.
    if (this.#over || this.#completeRead()) return
    this.#over = true
    this.#outcome = failure.outcome
    this.#error ??= failure.code
    const { extraHeaders = {} } = this.#options
    const { vendor } = this.#context
    reportFailure(this.#outgoing, failure, { vendor, extraHeaders, framing: this.#framing })
    this.#release()
  }

  /** The connection to the client is gone, or the answer has left. */
  #left(): void {
    if (this.#outgoing.writableFinished) return
    if (this.#outcome === 'answered') this.#outcome = 'aborted'
    this.#over = true
    this.#request?.destroy()
    this.#settle()
  }

  #tunnel(answer: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (this.#over || this.#upgrade === null) {
      // Nobody asked for it.
      socket.destroy()
      this.#fail(FAILURES.malformed)
      return
    }
    this.#begin(answer)
    this.#observer.head(101, answer.rawHeaders)
    this.#limits.close()
    this.#over = true
    this.#endTunnel = this.#upgrade(answer, socket, head, (outcome, sent, received) => {
      this.#outcome = outcome
      this.#sent = sent
      this.#received = received
      this.#settle()
    })
  }

  #begin(answer: IncomingMessage): void {
    this.#answer = answer
    // It is not sent again, and an answer may stream for an hour.
    this.#body = NOT_HELD
    this.#firstByteMs = this.#context.now() - this.#started
  }

  #settle(): void {
    this.#limits.close()
    const tunnelled = this.#endTunnel !== null
    this.#done.resolve({
      outcome: this.#outcome,
      status: tunnelled ? 101 : this.#outgoing.headersSent ? this.#outgoing.statusCode : null,
      sent_bytes: this.#sent,
      received_bytes: this.#received,
      first_byte_ms: this.#firstByteMs,
      total_ms: this.#context.now() - this.#started,
      retried: this.#retried,
      error: this.#error,
    })
  }
}
