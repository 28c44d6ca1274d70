import type { Clock } from './clock.ts'

export type StopReason = 'timeout' | 'aborted'

/** Ends a call by its time or by its client's will, wherever it is on its way. */
export class CallLimit {
  readonly #signal: AbortSignal
  readonly #handlers = new Set<(reason: StopReason) => void>()
  readonly #cancelTimer: () => void
  readonly #onAbort = () => this.#stop('aborted')
  #reason: StopReason | null = null

  /** @param timeoutMs may be infinite */
  constructor(signal: AbortSignal, timeoutMs: number, clock: Clock) {
    this.#signal = signal
    this.#cancelTimer = Number.isFinite(timeoutMs)
      ? clock.after(timeoutMs, () => this.#stop('timeout'))
      : () => {}
    if (signal.aborted) this.#stop('aborted')
    else signal.addEventListener('abort', this.#onAbort)
  }

  /** `null` while the call may go on. */
  get reason(): StopReason | null {
    return this.#reason
  }

  /** What the client gave as its reason, if that is a text. */
  get detail(): string | null {
    const reason: unknown = this.#signal.reason
    return this.#reason === 'aborted' && typeof reason === 'string' ? reason : null
  }

  /**
   * @param handler called once when the call must end; must not throw
   * @returns forgets the handler
   */
  onStop(handler: (reason: StopReason) => void): () => void {
    this.#handlers.add(handler)
    return () => void this.#handlers.delete(handler)
  }

  /** What the work resolves to; `null` if the call must end before. */
  race<T>(work: Promise<T>): Promise<T | null> {
    if (this.#reason !== null) return Promise.resolve(null)
    return new Promise((resolve, reject) => {
      const forget = this.onStop(() => resolve(null))
      work.then(resolve, reject).finally(forget)
    })
  }

  /** The call is over. */
  release(): void {
    this.#handlers.clear()
    this.#cancelTimer()
    this.#signal.removeEventListener('abort', this.#onAbort)
  }

  #stop(reason: StopReason): void {
    if (this.#reason !== null) return
    this.#reason = reason
    for (const handler of [...this.#handlers]) handler(reason)
    this.release()
  }
}
