import type { JsonBytes } from '../../../core/json/bytes/json-node.ts'
import {
  type Outcome,
  type RequestMessage,
  writeNotification,
  writeResponse,
} from '../../json-rpc.ts'
import { type Clock, SYSTEM_CLOCK } from '../../upstream/clock.ts'
import type { HttpExchange, HttpFront, HttpReply } from '../http-exchange.ts'
import { STREAM_TYPE } from '../http-replies.ts'
import { statusOf } from './error-status.ts'
import { type ModernAnswer, ModernServer, type ModernServerOptions } from './modern-server.ts'
import { readModernMessage } from './read-message.ts'
import { checkNotification } from './request-rules.ts'

/** Bytes that a client has not read. Beyond them notifications are lost, and answers are not. */
const MOST_UNREAD_BYTES = 1024 * 1024

/** Between two comments that keep the connection, in milliseconds. */
const KEEP_ALIVE_MS = 15_000

const BEFORE = Buffer.from('event: message\ndata: ')
const AFTER = Buffer.from('\n\n')
const KEEP_ALIVE = Buffer.from(': keepalive\n\n')

/** The messages of one answer as `text/event-stream`. */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null
  #cancelKeepAlive = () => {}

  /** @param onCancel called when the client closes the stream */
  constructor(clock: Clock, onCancel: () => void) {
    const strategy = new ByteLengthQueuingStrategy({ highWaterMark: MOST_UNREAD_BYTES })
    const source = {
      start: (controller: ReadableStreamDefaultController<Uint8Array>) => {
        this.#controller = controller
      },
      cancel: () => {
        this.#stop()
        onCancel()
      },
    }
    this.body = new ReadableStream(source, strategy)
    this.#keepAlive(clock)
  }

  /**
   * Sends a notification.
   * @returns `false` if the client does not read, so that it is lost
   */
  notify(message: JsonBytes): boolean {
    if (!this.#hasRoom()) return false
    this.#write(BEFORE, message, AFTER)
    return true
  }

  /** Sends the answer, and ends. */
  end(message: JsonBytes): void {
    this.#write(BEFORE, message, AFTER)
    this.cut()
  }

  /** Ends without an answer. */
  cut(): void {
    const controller = this.#controller
    this.#stop()
    controller?.close()
  }

  #hasRoom(): boolean {
    return (this.#controller?.desiredSize ?? 0) > 0
  }

  #write(...parts: readonly JsonBytes[]): void {
    this.#controller?.enqueue(Buffer.concat(parts))
  }

  #keepAlive(clock: Clock): void {
    this.#cancelKeepAlive = clock.after(KEEP_ALIVE_MS, () => {
      if (this.#hasRoom()) this.#write(KEEP_ALIVE)
      this.#keepAlive(clock)
    })
  }

  #stop(): void {
    this.#controller = null
    this.#cancelKeepAlive()
  }
}

const JSON_TYPE = { 'content-type': 'application/json' }

/** Serves clients of the revision 2026-07-28 over Streamable HTTP: each POST by itself. */
export function createModernFront(options: ModernServerOptions): DrainingFront {
  return new ModernFront(options)
}

/** A front whose clients have streams without an end. */
export interface DrainingFront extends HttpFront {
  /** Ends those streams. */
  drain(): void
}

class ModernFront implements DrainingFront {
  readonly #server: ModernServer
  readonly #clock: Clock
  readonly #running = new Set<Promise<unknown>>()

  constructor(options: ModernServerOptions) {
    this.#server = new ModernServer(options)
    this.#clock = options.clock ?? SYSTEM_CLOCK
  }

  async answer(exchange: HttpExchange): Promise<HttpReply> {
    if (exchange.method !== 'POST') return { status: 405, headers: { allow: 'POST' }, body: null }
    const type = exchange.header('content-type') ?? ''
    if (!/^application\/json\s*(?:;|$)/i.test(type)) return { status: 415, headers: {}, body: null }
    const message = readModernMessage(exchange.body)
    switch (message.kind) {
      case 'unreadable':
        return single(message.id, message.outcome)
      case 'request':
        return this.#request(message, exchange)
      case 'notification': {
        const fault = checkNotification(message, name => exchange.header(name))
        return fault === null ? { status: 202, headers: {}, body: null } : single(null, fault)
      }
      case 'response':
        // Servers of this revision ask nothing outside of results.
        return { status: 202, headers: {}, body: null }
    }
  }

  drain(): void {
    this.#server.drain()
  }

  async close(): Promise<void> {
    await this.#server.close()
    await Promise.all(this.#running)
  }

  /** One message as JSON, or a stream from the first notification on. */
  #request(message: RequestMessage, exchange: HttpExchange): Promise<HttpReply> {
    const replied = Promise.withResolvers<HttpReply>()
    const gone = new AbortController()
    const abort = () => gone.abort()
    let stream: EventStream | null = null
    if (exchange.signal.aborted) abort()
    exchange.signal.addEventListener('abort', abort)
    const answered = this.#server.answer({
      message,
      caller: exchange.caller,
      header: name => exchange.header(name),
      signal: gone.signal,
      notify: (method, params) => {
        if (stream === null) {
          stream = new EventStream(this.#clock, abort)
          replied.resolve({ status: 200, headers: STREAM_TYPE, body: stream.body })
        }
        return stream.notify(writeNotification(method, params))
      },
    })
    const ended = answered.then(answer => {
      exchange.signal.removeEventListener('abort', abort)
      if (stream === null) replied.resolve(answer === null ? GONE : replyOf(message.id, answer))
      else if (answer === null) stream.cut()
      else stream.end(writeResponse(message.id, answer.outcome))
    })
    this.#running.add(ended)
    void ended.finally(() => this.#running.delete(ended))
    return replied.promise
  }
}

/** For a client that is not there any more. */
const GONE: HttpReply = { status: 499, headers: {}, body: null }

function replyOf(id: JsonBytes, { outcome, isRefused }: ModernAnswer): HttpReply {
  const reply = single(id, outcome)
  return isRefused ? { ...reply, status: 400 } : reply
}

function single(id: JsonBytes | null, outcome: Outcome): HttpReply {
  return { status: statusOf(outcome), headers: JSON_TYPE, body: writeResponse(id, outcome) }
}
