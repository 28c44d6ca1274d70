import type { Writable } from 'node:stream'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import type { Guard } from '../../proxy/guard.ts'
import { singleLine } from '../fronts/single-line.ts'
import { MOST_WAITING } from './send-queue.ts'

interface Letter {
  readonly message: JsonBytes
  /** The id of a request; `null` for any other message. */
  readonly callId: number | null
  readonly onSent: () => void
}

/** Messages on their way to a child that may read slowly, one a line. */
export class Outbox {
  readonly #stream: Writable
  readonly #maxBytes: number
  readonly #waiting: Letter[] = []
  #bytes = 0
  #isFull = false
  #isStopped = false

  constructor(stream: Writable, maxBytes: number, guard: Guard) {
    this.#stream = stream
    this.#maxBytes = maxBytes
    guard.on(stream, 'drain', () => {
      this.#isFull = false
      this.#flush()
    })
  }

  /**
   * @param onSent called when the message is on its way, or will never be
   * @returns `false` if too much waits already: the message is not taken
   */
  add(message: JsonBytes, callId: number | null, onSent: () => void): boolean {
    if (this.#isStopped || this.#bytes + message.length > this.#maxBytes) return false
    // Requests have a bound where they come from.
    if (callId === null && this.#waiting.length >= MOST_WAITING) return false
    this.#bytes += message.length
    this.#waiting.push({ message: singleLine(message), callId, onSent })
    this.#flush()
    return true
  }

  /** Takes back a request; `false` if it is on its way. */
  withdraw(callId: number): boolean {
    const at = this.#waiting.findIndex(letter => letter.callId === callId)
    if (at === -1) return false
    const [letter] = this.#waiting.splice(at, 1)
    this.#bytes -= letter!.message.length
    return true
  }

  /** @returns the requests that were not sent */
  stop(): number[] {
    this.#isStopped = true
    const left = this.#waiting.splice(0)
    for (const { onSent } of left) onSent()
    return left.flatMap(({ callId }) => callId ?? [])
  }

  #flush(): void {
    while (!this.#isFull && !this.#isStopped) {
      const letter = this.#waiting.shift()
      if (letter === undefined) return
      this.#bytes -= letter.message.length
      this.#stream.cork()
      this.#stream.write(letter.message)
      this.#isFull = !this.#stream.write('\n')
      this.#stream.uncork()
      letter.onSent()
    }
  }
}
