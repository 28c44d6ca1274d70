import type { JsonBytes } from '../../core/json/bytes/json-node.ts'

/** Messages that are under way at a time; each has a connection of its own over HTTP. */
const WIDTH = 4
/** Messages that wait. */
export const MOST_WAITING = 1_000

/** Messages to a server that wait for no answer: a few at a time, in their order. */
export class SendQueue {
  readonly #send: (message: JsonBytes) => Promise<void>
  readonly #waiting: (() => Promise<void>)[] = []
  #underWay = 0

  /** @param send must not reject */
  constructor(send: (message: JsonBytes) => Promise<void>) {
    this.#send = send
  }

  /** @returns resolves once it is sent; `null` if too many wait: the message is not taken */
  add(message: JsonBytes): Promise<void> | null {
    if (this.#waiting.length >= MOST_WAITING) return null
    return new Promise(resolve => {
      this.#waiting.push(() => this.#send(message).finally(resolve))
      this.#next()
    })
  }

  #next(): void {
    if (this.#underWay >= WIDTH) return
    const send = this.#waiting.shift()
    if (send === undefined) return
    this.#underWay++
    void send().finally(() => {
      this.#underWay--
      this.#next()
    })
  }
}
