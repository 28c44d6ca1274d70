import type { JsonBytes } from '../../../core/json/bytes/json-node.ts'
import type { Clock } from '../../upstream/clock.ts'

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
