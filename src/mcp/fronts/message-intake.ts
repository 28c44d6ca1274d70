import type { Readable } from 'node:stream'
import { checkLargeJson } from '../../core/json/bytes/check-large-json.ts'
import { LARGE_BYTES } from '../../core/json/bytes/checked-json.ts'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'

/**
 * Passes the messages of a stream on in their order. A large one is checked first, and the stream
 * waits meanwhile.
 */
export class MessageIntake {
  readonly #stream: Pick<Readable, 'pause' | 'resume'>
  readonly #onMessage: (bytes: JsonBytes) => void
  readonly #waiting: JsonBytes[] = []
  #draining: Promise<void> | null = null

  /** @param onMessage must not throw */
  constructor(stream: Pick<Readable, 'pause' | 'resume'>, onMessage: (bytes: JsonBytes) => void) {
    this.#stream = stream
    this.#onMessage = onMessage
  }

  take(bytes: JsonBytes): void {
    if (this.#draining === null && bytes.length <= LARGE_BYTES) {
      this.#onMessage(bytes)
      return
    }
    this.#waiting.push(bytes)
    this.#draining ??= this.#drain()
  }

  /** Runs once all messages were passed on: at once if none waits. */
  afterAll(then: () => void): void {
    if (this.#draining === null) then()
    else void this.#draining.then(() => this.afterAll(then))
  }

  /** Resolves once all messages were passed on. */
  settled(): Promise<void> {
    return new Promise(resolve => this.afterAll(resolve))
  }

  async #drain(): Promise<void> {
    this.#stream.pause()
    for (let bytes = this.#waiting.shift(); bytes !== undefined; bytes = this.#waiting.shift()) {
      await checkLargeJson(bytes)
      this.#onMessage(bytes)
    }
    this.#draining = null
    this.#stream.resume()
  }
}
