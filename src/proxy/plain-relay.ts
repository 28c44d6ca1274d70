import type { IncomingMessage } from 'node:http'
import { type AnswerFraming, flushHead } from './answer-head.ts'
import type { AnswerRelay, RelayTarget } from './answer-relay.ts'
import type { EndGate } from './end-gate.ts'
import { FAILURES } from './failures.ts'
import { pairs } from './headers.ts'

/** Passes an answer on byte for byte. */
export class PlainRelay implements AnswerRelay {
  readonly #to: RelayTarget
  readonly #endGate: EndGate
  #answer: IncomingMessage | null = null
  framing: AnswerFraming | null = null

  constructor(to: RelayTarget, endGate: EndGate) {
    this.#to = to
    this.#endGate = endGate
  }

  take(answer: IncomingMessage): void {
    const { guard, outgoing, observer } = this.#to
    this.#answer = answer
    this.framing = this.#to.writeHead(answer)
    if (this.framing === null) {
      this.#to.fail(FAILURES.malformed)
      return
    }
    observer.head(answer.statusCode ?? 0, answer.rawHeaders)
    let received = 0
    guard.on(answer, 'data', (chunk: Buffer) => {
      if (this.#to.isOver()) return
      received = this.#to.moved(chunk.length)
      this.#pass(answer, chunk, received)
    })
    guard.on(outgoing, 'drain', () => {
      this.#to.moved(0)
      answer.resume()
    })
    guard.on(answer, 'end', () => this.#to.ready())
    guard.on(answer, 'error', () => this.#to.fail(FAILURES.broken))
    guard.on(answer, 'close', () => {
      if (!answer.complete) this.#to.fail(FAILURES.broken)
    })
    // On the next tick, so that bytes that came in with the head leave together with it.
    guard.nextTick(() => {
      if (received === 0 && !this.#to.isOver()) flushHead(outgoing)
    })
  }

  #pass(answer: IncomingMessage, chunk: Buffer, received: number): void {
    const { outgoing, observer } = this.#to
    this.framing?.events?.follow(chunk)
    const isLast = received === Number(answer.headers['content-length'])
    if (!outgoing.write(isLast ? this.#endGate.passLast(chunk) : chunk)) answer.pause()
    observer.chunk(chunk)
  }

  complete(): boolean {
    const answer = this.#answer
    if (answer?.readableEnded !== true || !answer.complete) return false
    const { outgoing } = this.#to
    if (outgoing.chunkedEncoding) outgoing.addTrailers(pairs(answer.rawTrailers))
    outgoing.end(this.#endGate.kept)
    return true
  }

  close(): void {
    // It has no timers.
  }
}
