import { Turns } from './turns.ts'

export interface CallQueueOptions {
  /** Calls and bytes that may wait for their answer or their turn. */
  readonly maxCalls: number
  readonly maxBytesWaiting: number
}

/** As many calls as Redis answers in some ten milliseconds. */
const MAX_SENT = 128

/**
 * The calls to a server. Only so many are sent at a time that the last one is answered soon: so a
 * late answer tells of the server, and not of how many calls this process had at once.
 */
export class CallQueue {
  readonly #options: CallQueueOptions
  readonly #turns = new Turns(MAX_SENT)
  #pending = 0
  #pendingBytes = 0
  #refused = 0

  constructor(options: CallQueueOptions) {
    this.#options = options
  }

  get pending(): number {
    return this.#pending
  }

  get pendingBytes(): number {
    return this.#pendingBytes
  }

  /** Calls that found no room. */
  get refused(): number {
    return this.#refused
  }

  /**
   * Sends a call when its turn comes; `null` if there is no room for it.
   * @param send never rejects
   */
  async run<T>(bytes: number, send: () => Promise<T>): Promise<T | null> {
    const { maxCalls, maxBytesWaiting } = this.#options
    if (this.#pending >= maxCalls || this.#pendingBytes + bytes > maxBytesWaiting) {
      this.#refused++
      return null
    }
    this.#pending++
    this.#pendingBytes += bytes
    const answer = await this.#turns.run(send)
    this.#pending--
    this.#pendingBytes -= bytes
    return answer
  }
}
