import type { ForwardLimits } from './upstream.ts'

/** What is being waited for. */
export type Phase = 'connect' | 'send' | 'continue' | 'headers' | 'body'

/**
 * How long a body waits for a 100. The upstream may not know the expectation (RFC 9110 §10.1.1).
 */
const CONTINUE_MS = 1_000

/** The clock of one exchange: one limit at a time for what is being waited for, one for all. */
export class TimeLimits {
  readonly #limits: ForwardLimits
  readonly #late: (phase: Phase | 'total') => void
  readonly #total: NodeJS.Timeout
  #current: NodeJS.Timeout | undefined
  #phase: Phase = 'connect'
  #closed = false

  /** @param late called with what took too long, perhaps once for each phase */
  constructor(limits: ForwardLimits, late: (phase: Phase | 'total') => void) {
    this.#limits = limits
    this.#late = late
    this.#total = setTimeout(() => late('total'), limits.total_ms)
  }

  get phase(): Phase {
    return this.#phase
  }

  /** Begins another phase, with its own limit. */
  enter(phase: Phase): void {
    if (this.#closed) return
    clearTimeout(this.#current)
    this.#phase = phase
    this.#current = setTimeout(() => this.#late(phase), this.#limit(phase))
  }

  /** A byte moved. */
  progress(): void {
    if (this.#phase === 'send' || this.#phase === 'body') this.#current?.refresh()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#total)
    clearTimeout(this.#current)
  }

  #limit(phase: Phase): number {
    if (phase === 'connect') return this.#limits.connect_ms
    if (phase === 'headers') return this.#limits.headers_ms
    const { idle_ms } = this.#limits
    return phase === 'continue' ? Math.min(CONTINUE_MS, idle_ms) : idle_ms
  }
}
