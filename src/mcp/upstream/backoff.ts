import type { Clock } from './clock.ts'

const FIRST_MS = 500
const LONGEST_MS = 30_000
/** The part of a wait that is left to chance, so that many gateways do not come back at once. */
const JITTER = 0.2
/** A connection that held this long was a good one: the next wait is the first one again. */
const STEADY_MS = 10_000

/** Waits between attempts to connect: 0.5 s, doubling to 30 s, each up to a tenth more or less. */
export class Backoff {
  readonly #clock: Clock
  #failures = 0
  #connectedAt: number | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  connected(): void {
    this.#connectedAt = this.#clock.now()
  }

  /** Milliseconds to wait after a failed attempt or a lost connection. */
  next(): number {
    const heldMs = this.#connectedAt === null ? 0 : this.#clock.now() - this.#connectedAt
    if (heldMs >= STEADY_MS) this.#failures = 0
    this.#connectedAt = null
    const ms = Math.min(FIRST_MS * 2 ** this.#failures, LONGEST_MS)
    if (ms < LONGEST_MS) this.#failures++
    return ms * (1 + JITTER * (this.#clock.random() - 0.5))
  }
}
