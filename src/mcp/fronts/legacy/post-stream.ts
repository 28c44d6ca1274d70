import type { JsonBytes } from '../../../core/json/bytes/json-node.ts'
import { CLOSE_BRACKET, COMMA, OPEN_BRACKET } from '../../../core/json/char-codes.ts'
import { EventSink } from '../event-sink.ts'
import type { HttpReply } from '../http-exchange.ts'
import { emptyReply, jsonReply, streamReply } from '../http-replies.ts'
import type { EventLog } from './event-log.ts'

/** How long a call continues without its client, and a finished stream can be read again. */
const RESUME_MS = 60_000

export interface PostStreamOptions {
  /** Its number within the session. */
  readonly number: number
  readonly log: EventLog
  readonly isBatch: boolean
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal
  now(): number
}

/**
 * What is answered to one POST: JSON, or a stream of events as soon as something comes before the
 * answer. A client that loses its stream can take it up again.
 */
export class PostStream {
  readonly number: number
  readonly #options: PostStreamOptions
  readonly #reply = Promise.withResolvers<HttpReply>()
  readonly #ending = new AbortController()
  readonly #answers: JsonBytes[] = []
  #sink: EventSink | null = null
  #hasBegun = false
  #isDone = false
  /** Since when no client reads it, or it is finished; `null` while it is read. */
  #leftAt: number | null = null

  constructor(options: PostStreamOptions) {
    this.#options = options
    this.number = options.number
    if (options.signal.aborted) this.#gone()
    else options.signal.addEventListener('abort', this.#gone, { once: true })
  }

  /** Resolves once it is known in which way the POST is answered. */
  get reply(): Promise<HttpReply> {
    return this.#reply.promise
  }

  /** Aborted when its requests shall end without an answer. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  get isDone(): boolean {
    return this.#isDone
  }

  /** Sends a message that comes before the answers. */
  send(message: JsonBytes): void {
    if (this.#isDone || !this.#begin()) return
    this.#write(message)
  }

  /** @returns whether the client is there to read it */
  answered(answer: JsonBytes): boolean {
    if (this.#hasBegun) this.#write(answer)
    else this.#answers.push(answer)
    return this.#leftAt === null
  }

  /** All requests have ended. */
  finish(): void {
    const { signal, isBatch, now } = this.#options
    signal.removeEventListener('abort', this.#gone)
    this.#isDone = true
    this.#leftAt = now()
    this.#sink?.end()
    this.#sink = null
    const [first] = this.#answers
    if (first === undefined) this.#reply.resolve(emptyReply(202))
    else this.#reply.resolve(jsonReply(200, isBatch ? arrayOf(this.#answers) : first))
  }

  /** What is kept of it after a place, and all that follows. */
  resume(at: number): EventSink {
    const sink = this.#newSink()
    for (const chunk of this.#options.log.after({ stream: this.number, at })) sink.write(chunk)
    if (this.#isDone) sink.end()
    else {
      // If there are two readers, the later one is the client that came back.
      this.#sink?.end()
      this.#sink = sink
      this.#leftAt = null
    }
    return sink
  }

  keepAlive(): void {
    this.#sink?.keepAlive()
  }

  /** Ends calls whose client did not return. Returns whether nothing of it is needed any more. */
  expire(): boolean {
    if (this.#leftAt === null || this.#options.now() - this.#leftAt < RESUME_MS) return false
    this.#ending.abort()
    return this.#isDone
  }

  /**
   * Ends the calls under way. They may have run, so the answer is not 404: clients take that for a
   * lost session, open another one and repeat the call.
   */
  close(): void {
    this.#ending.abort()
    this.#sink?.end()
    this.#sink = null
    this.#reply.resolve(emptyReply(502))
  }

  /** @returns `false` if the client has gone without the id of any event, and cannot come back */
  #begin(): boolean {
    if (this.#hasBegun) return true
    if (this.#leftAt !== null) return false
    this.#hasBegun = true
    this.#sink = this.#newSink()
    this.#reply.resolve(streamReply(this.#sink.stream))
    for (const answer of this.#answers.splice(0)) this.#write(answer)
    return true
  }

  #write(message: JsonBytes): void {
    const event = this.#options.log.add(this.number, message)
    this.#sink?.write(event)
  }

  #newSink(): EventSink {
    const sink: EventSink = new EventSink(() => {
      if (this.#sink === sink) this.#left()
    })
    return sink
  }

  /** The connection of the POST is lost. A stream may have another reader by now. */
  readonly #gone = () => {
    if (!this.#hasBegun) this.#left()
  }

  #left(): void {
    this.#sink = null
    this.#leftAt ??= this.#options.now()
  }
}

function arrayOf(answers: readonly JsonBytes[]): JsonBytes {
  const parts = answers.flatMap((answer, i) => (i === 0 ? [answer] : [Buffer.of(COMMA), answer]))
  return Buffer.concat([Buffer.of(OPEN_BRACKET), ...parts, Buffer.of(CLOSE_BRACKET)])
}
