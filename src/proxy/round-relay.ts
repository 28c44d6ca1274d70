import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { decoderOf } from './answer-decoder.ts'
import { type AnswerFraming, flushHead } from './answer-head.ts'
import type { AnswerRelay, RelayTarget } from './answer-relay.ts'
import type { AnswerRounds, RoundForm } from './answer-rounds.ts'
import { FAILURES, type Failure } from './failures.ts'
import { pairs } from './headers.ts'

/** How often the client hears something while the next round is awaited, in milliseconds. */
const PING_MS = 10_000

const OWN_FRAMING: ReadonlySet<string> = new Set(['content-length', 'content-encoding'])

/** Relays the rounds of one answer. */
export class RoundRelay implements AnswerRelay {
  readonly #rounds: AnswerRounds
  readonly #to: RelayTarget
  #framing: AnswerFraming | null = null
  #pings: NodeJS.Timeout | undefined
  /** What the answer ends with, once that is known. */
  #last: { readonly bytes: Uint8Array; readonly answer: IncomingMessage } | null = null
  #form: RoundForm = 'pass'
  /** The decoded body of this round. */
  #source: Readable | null = null
  /** Relays an answer that is not read. */
  readonly #plain: AnswerRelay
  #passes = false

  constructor(rounds: AnswerRounds, to: RelayTarget, plain: AnswerRelay) {
    this.#rounds = rounds
    this.#to = to
    this.#plain = plain
  }

  get framing(): AnswerFraming | null {
    return this.#passes ? this.#plain.framing : this.#framing
  }

  take(answer: IncomingMessage): void {
    const { outgoing, observer } = this.#to
    this.#form = this.#rounds.begin(answer.statusCode ?? 0, answer.rawHeaders)
    const source = this.#form === 'pass' ? null : decoded(answer)
    if (source === null) {
      this.#passes = !outgoing.headersSent
      if (this.#passes) this.#plain.take(answer)
      else {
        answer.resume()
        this.#to.fail(refusedWith(answer.statusCode ?? 0))
      }
      return
    }
    if (this.#form === 'events' && !this.#hasHead(answer)) return
    observer.head(answer.statusCode ?? 0, withoutFraming(answer))
    this.#listen(answer, source)
  }

  /** Sends the head if it was not sent. Returns whether it is sent. */
  #hasHead(answer: IncomingMessage): boolean {
    if (this.#to.outgoing.headersSent) return true
    this.#framing = this.#to.writeHead(answer, {})
    if (this.#framing === null) this.#to.fail(FAILURES.malformed)
    return this.#framing !== null
  }

  #listen(answer: IncomingMessage, source: Readable): void {
    const { guard, outgoing } = this.#to
    guard.on(source, 'data', (chunk: Buffer) => this.#pass(answer, source, chunk))
    if (this.#source === null) {
      guard.on(outgoing, 'drain', () => {
        this.#to.moved(0)
        this.#source?.resume()
      })
    }
    this.#source = source
    guard.on(source, 'end', () => this.#end(answer))
    guard.on(source, 'error', () => this.#to.fail(FAILURES.broken))
    if (source !== answer) guard.on(answer, 'error', () => this.#to.fail(FAILURES.broken))
    guard.on(answer, 'close', () => {
      if (!answer.complete) this.#to.fail(FAILURES.broken)
    })
    guard.nextTick(() => {
      if (this.#form === 'events' && !this.#to.isOver()) flushHead(outgoing)
    })
  }

  #pass(answer: IncomingMessage, source: Readable, chunk: Buffer): void {
    if (this.#to.isOver()) return
    this.close()
    this.#to.moved(chunk.length)
    this.#to.observer.chunk(chunk)
    const bytes = this.#rounds.take(chunk)
    if (bytes.length === 0 || !this.#hasHead(answer)) return
    this.#framing?.events?.follow(bytes)
    if (!this.#to.outgoing.write(bytes)) source.pause()
  }

  #end(answer: IncomingMessage): void {
    if (this.#to.isOver()) return
    const { guard } = this.#to
    guard.settled(this.#rounds.end(), next => {
      if (this.#to.isOver()) return
      if (next.kind === 'again') this.#again(next.body)
      else {
        this.#last = { bytes: next.bytes, answer }
        this.#to.ready()
      }
    })
  }

  #again(body: Uint8Array): void {
    const { guard, outgoing } = this.#to
    if (this.#form === 'events') {
      this.#pings = guard.every(PING_MS, () => {
        if (!this.#to.isOver() && !outgoing.writableNeedDrain) outgoing.write(this.#rounds.ping)
      })
    }
    this.#to.sendAgain(body)
  }

  complete(): boolean {
    if (this.#passes) return this.#plain.complete()
    if (this.#last === null) return false
    this.close()
    const { outgoing } = this.#to
    const { bytes, answer } = this.#last
    if (!outgoing.headersSent) {
      this.#framing = this.#to.writeHead(answer, { length: bytes.length })
      if (this.#framing === null) outgoing.destroy()
    } else if (outgoing.chunkedEncoding) outgoing.addTrailers(pairs(answer.rawTrailers))
    outgoing.end(bytes)
    return true
  }

  close(): void {
    clearInterval(this.#pings)
  }
}

/** The decoded body of an answer; `null` if its coding is not known. */
function decoded(answer: IncomingMessage): Readable | null {
  const coding = (answer.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (coding === 'identity') return answer
  const decoder = decoderOf(coding)
  return decoder === null ? null : answer.pipe(decoder)
}

function withoutFraming({ rawHeaders }: IncomingMessage): readonly string[] {
  return pairs(rawHeaders)
    .filter(([name]) => !OWN_FRAMING.has(name.toLowerCase()))
    .flat()
}

/** A later round was refused, after the client was sent a part of the answer. */
function refusedWith(status: number): Failure {
  return {
    outcome: 'broken',
    status: status >= 400 ? status : 502,
    code: 'upstream_refused',
    message: 'The upstream refused to continue this answer',
  }
}
