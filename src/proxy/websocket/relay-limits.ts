import type { ForwardLimits } from '../upstream.ts'
import type { SocketMessages } from './socket-messages.ts'

export type RelayTimes = Pick<ForwardLimits, 'headers_ms' | 'idle_ms' | 'total_ms'>

/**
 * The clock of a WebSocket. A response has the limits of an exchange: until it begins, between two
 * of its events, and for all of it. Between responses a user may think, so then the connection may
 * be quiet as long as an exchange may take.
 */
export class RelayLimits {
  readonly #times: RelayTimes
  readonly #late: () => void
  #quiet: NodeJS.Timeout | undefined
  #quietMs = 0
  /** For all responses that follow one another without a pause. */
  #total: NodeJS.Timeout | undefined
  #isClosed = false

  /** @param late called when a limit is reached */
  constructor(times: RelayTimes, late: () => void) {
    this.#times = times
    this.#late = late
  }

  /**
   * Something moved, or something else is waited for.
   * @param isEnding whether one side has begun to end the connection
   */
  watch({ pending, hasBegun }: SocketMessages, isEnding: boolean): void {
    if (this.#isClosed) return
    const { headers_ms, idle_ms, total_ms } = this.#times
    if (pending === 0) {
      clearTimeout(this.#total)
      this.#total = undefined
    } else this.#total ??= setTimeout(this.#late, total_ms)
    const awaited = hasBegun ? idle_ms : headers_ms
    const ms = isEnding ? idle_ms : pending === 0 ? total_ms : awaited
    if (this.#quiet !== undefined && ms === this.#quietMs) this.#quiet.refresh()
    else this.#wait(ms)
  }

  /** The time that is left to end. */
  lastly(ms: number): void {
    clearTimeout(this.#total)
    this.#wait(ms)
    this.#isClosed = true
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#total)
    clearTimeout(this.#quiet)
  }

  #wait(ms: number): void {
    clearTimeout(this.#quiet)
    this.#quietMs = ms
    this.#quiet = setTimeout(this.#late, ms)
  }
}
