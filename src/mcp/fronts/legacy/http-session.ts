import type { JsonBytes } from '../../../core/json/bytes/json-node.ts'
import { ClientSession, type SessionOptions } from '../../client/client-session.ts'
import type { Message } from '../../json-rpc.ts'
import { EventSink } from '../event-sink.ts'
import type { HttpReply, McpCaller } from '../http-exchange.ts'
import { emptyReply, streamReply } from '../http-replies.ts'
import { EventLog, type LogRoom } from './event-log.ts'
import { PostStream } from './post-stream.ts'

/** Streams of one client for what belongs to no request; the oldest gives way to another one. */
const MAX_LISTENING = 4
/** Posts of one client, with those that ended within the last minute. */
const MAX_POSTS = 2_000

/** The number of the stream for what belongs to no request. */
const OWN_STREAM = 0

export interface HttpSessionOptions extends Omit<SessionOptions, 'send'> {
  readonly id: string
  readonly caller: McpCaller
  readonly room: LogRoom
  now(): number
}

/** What one POST carries. */
export interface Posted {
  readonly messages: readonly Message[]
  readonly isBatch: boolean
  /** The headers `X-Haversack-Session` and `traceparent`. */
  readonly context: string | null
  readonly traceparent: string | null
}

/** One client of a revision before 2026-07-28 over Streamable HTTP. */
export class HttpSession {
  readonly id: string
  readonly caller: McpCaller
  readonly #options: HttpSessionOptions
  readonly #session: ClientSession
  readonly #log: EventLog
  readonly #posts = new Map<number, PostStream>()
  readonly #listening: EventSink[] = []
  /** How many events of the own stream were sent on any connection. */
  #sent = 0
  #lastStream = OWN_STREAM
  #usedAt: number
  #isClosed = false

  constructor(options: HttpSessionOptions) {
    this.#options = options
    this.id = options.id
    this.caller = options.caller
    this.#usedAt = options.now()
    this.#log = new EventLog(options.room)
    const { version, createGateway } = options
    this.#session = new ClientSession({
      version,
      createGateway: client => createGateway(client),
      send: message => this.#sendOwn(message),
      isListening: () => this.#listening.length > 0,
    })
  }

  /** The revision that the handshake agreed on; `null` before it. */
  get version() {
    return this.#session.version
  }

  /** How long nothing came from the client; 0 while it waits for something or listens. */
  idleMs(): number {
    const isBusy = this.#listening.length > 0 || [...this.#posts.values()].some(one => !one.isDone)
    return isBusy ? 0 : this.#options.now() - this.#usedAt
  }

  /** Whether it takes one more POST; the oldest one that ended is forgotten for it. */
  makeRoom(): boolean {
    if (this.#posts.size < MAX_POSTS) return true
    const ended = [...this.#posts.values()].find(({ isDone }) => isDone)
    if (ended === undefined) return false
    this.#posts.delete(ended.number)
    this.#log.forget(ended.number)
    return true
  }

  /** @param signal aborted when the client has gone */
  async post({ messages, isBatch, ...origin }: Posted, signal: AbortSignal): Promise<HttpReply> {
    this.#touch()
    const requests = messages.filter(({ kind }) => kind === 'request')
    for (const message of messages) {
      if (message.kind !== 'request') void this.#session.receive(message)
    }
    if (requests.length === 0) return emptyReply(202)
    const number = ++this.#lastStream
    const { now } = this.#options
    const stream = new PostStream({ number, log: this.#log, isBatch, signal, now })
    this.#posts.set(number, stream)
    void this.#run(requests, stream, origin)
    return stream.reply
  }

  /**
   * Opens a stream for what belongs to no request.
   * @param lastEventId takes up a broken stream after this event
   * @returns `null` if there is no such event any more
   */
  listen(lastEventId: string | null): HttpReply | null {
    this.#touch()
    const place =
      lastEventId === null ? { stream: OWN_STREAM, at: this.#sent } : this.#log.placeOf(lastEventId)
    if (place === null) return null
    if (place.stream !== OWN_STREAM) {
      const stream = this.#posts.get(place.stream)
      return stream === undefined ? null : streamReply(stream.resume(place.at).stream)
    }
    const sink: EventSink = new EventSink(() => this.#forget(sink))
    const [missed, first] = [this.#log.after(place), this.#log.first(OWN_STREAM)]
    // Earlier revisions do not know events without a message.
    if (missed.length === 0 && this.version === '2025-11-25') sink.write(first)
    else sink.keepAlive()
    for (const event of missed) sink.write(event)
    this.#sent = this.#log.countOf(OWN_STREAM)
    this.#listening.push(sink)
    if (this.#listening.length > MAX_LISTENING) this.#listening.shift()?.end()
    return streamReply(sink.stream)
  }

  /** Ends the streams that would keep a connection open without a request under way. */
  stopListening(): void {
    for (const sink of this.#listening.splice(0)) sink.end()
  }

  /** To be called every few seconds. */
  maintain(): void {
    for (const sink of [...this.#listening]) sink.keepAlive()
    for (const [number, stream] of this.#posts) {
      stream.keepAlive()
      if (!stream.expire()) continue
      this.#posts.delete(number)
      this.#log.forget(number)
    }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.stopListening()
    for (const stream of this.#posts.values()) stream.close()
    await this.#session.close()
    this.#log.clear()
  }

  async #run(
    requests: readonly Message[],
    stream: PostStream,
    origin: Pick<Posted, 'context' | 'traceparent'>,
  ): Promise<void> {
    await Promise.all(
      requests.map(async request => {
        const sent = Promise.withResolvers<boolean>()
        const answer = await this.#session.receive(request, {
          ...origin,
          sendRelated: message => stream.send(message),
          signal: stream.ending,
          sent: sent.promise,
        })
        sent.resolve(answer !== null && stream.answered(answer))
      }),
    )
    this.#touch()
    stream.finish()
    // Nothing of it can be asked for again.
    if (this.#log.countOf(stream.number) === 0) this.#posts.delete(stream.number)
  }

  #sendOwn(message: JsonBytes): void {
    if (this.#isClosed) return
    const event = this.#log.add(OWN_STREAM, message)
    const sink = this.#listening.at(-1)
    if (sink === undefined) return
    this.#sent = this.#log.countOf(OWN_STREAM)
    sink.write(event)
  }

  #forget(sink: EventSink): void {
    const at = this.#listening.indexOf(sink)
    if (at !== -1) this.#listening.splice(at, 1)
    this.#touch()
  }

  #touch(): void {
    this.#usedAt = this.#options.now()
  }
}
