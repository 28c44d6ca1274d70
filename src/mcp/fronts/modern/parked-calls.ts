import { randomUUID } from 'node:crypto'
import type { Clock } from '../../upstream/clock.ts'
import type { OpenCall } from './open-call.ts'
import { STATE_MS } from './request-state.ts'

interface Parked {
  readonly tenant: string
  readonly call: OpenCall
  readonly cancelExpiry: () => void
}

/** Calls of one tenant that wait for answers. */
const MOST_PARKED = 100

/**
 * Calls that wait for the next request of their client, for ten minutes each. One that is not
 * fetched in time is cancelled.
 */
export class ParkedCalls {
  readonly #clock: Clock
  readonly #most: number
  readonly #parked = new Map<string, Parked>()
  readonly #counts = new Map<string, number>()

  /** @param most calls of one tenant */
  constructor(clock: Clock, most = MOST_PARKED) {
    this.#clock = clock
    this.#most = most
  }

  /** @returns the id to fetch it by, once; `null` if the tenant has too many */
  park(tenant: string, call: OpenCall): string | null {
    const count = this.#counts.get(tenant) ?? 0
    if (count >= this.#most) return null
    this.#counts.set(tenant, count + 1)
    const id = randomUUID()
    const cancelExpiry = this.#clock.after(STATE_MS, () => {
      this.take(id)?.cancel('timeout', 'the client gave no answer')
    })
    this.#parked.set(id, { tenant, call, cancelExpiry })
    return id
  }

  take(id: string): OpenCall | null {
    const parked = this.#parked.get(id)
    if (parked === undefined) return null
    this.#parked.delete(id)
    parked.cancelExpiry()
    const left = (this.#counts.get(parked.tenant) ?? 1) - 1
    if (left === 0) this.#counts.delete(parked.tenant)
    else this.#counts.set(parked.tenant, left)
    return parked.call
  }

  get size(): number {
    return this.#parked.size
  }

  /** Cancels all. */
  close(): void {
    for (const id of [...this.#parked.keys()]) this.take(id)?.cancel('aborted', 'shutting down')
  }
}
