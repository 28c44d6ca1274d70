import type { Clock } from './clock.ts'

/** Messages at once after which a server floods, and those that it may go on to send a second. */
const MOST = 20_000
const PER_SECOND = 500
/** So many of these reach the client at once. */
const MOST_PASSED = 1_000

/** What becomes of a message that a server sends of its own accord. */
export type Patience = 'passed on' | 'left out' | 'flood'

/** Counts what a server sends of its own accord: notifications, requests, answers to no call. */
export class MessageCount {
  readonly #clock: Clock
  #count = 0
  #at: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#at = clock.now()
  }

  next(): Patience {
    const now = this.#clock.now()
    this.#count = Math.max(0, this.#count - ((now - this.#at) * PER_SECOND) / 1000) + 1
    this.#at = now
    if (this.#count > MOST) return 'flood'
    return this.#count > MOST_PASSED ? 'left out' : 'passed on'
  }
}
