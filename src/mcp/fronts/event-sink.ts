import type { JsonBytes } from '../../core/json/bytes/json-node.ts'

/** Bytes that a client may leave unread before its stream is broken off. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024

const KEEPALIVE = Buffer.from(': keepalive\n\n')

/** One response of server-sent events. */
export class EventSink {
  readonly stream: ReadableStream<Uint8Array>
  readonly #onBroken: () => void
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null

  /** @param onBroken called once if it ends before `end`: the client has gone, or does not read */
  constructor(onBroken: () => void) {
    this.#onBroken = onBroken
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: controller => {
          this.#controller = controller
        },
        cancel: () => this.#broken(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: MAX_UNREAD_BYTES }),
    )
  }

  get isOpen(): boolean {
    return this.#controller !== null
  }

  /** @param chunk whole events */
  write(chunk: JsonBytes): void {
    const controller = this.#controller
    if (controller === null) return
    // One event of any size fits.
    if ((controller.desiredSize ?? 0) > 0) controller.enqueue(chunk)
    else {
      controller.error(new Error('the client does not read its stream'))
      this.#broken()
    }
  }

  /** Shows that this side lives, and finds out if the other does. */
  keepAlive(): void {
    this.write(KEEPALIVE)
  }

  end(): void {
    this.#controller?.close()
    this.#controller = null
  }

  #broken(): void {
    if (this.#controller === null) return
    this.#controller = null
    this.#onBroken()
  }
}
