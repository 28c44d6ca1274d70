import type { Exchange } from './exchange.ts'
import type { ExchangeOutcome, Failure } from './failures.ts'

/** Collects the report of an exchange while it runs. */
export class ExchangeRecord {
  readonly #started = performance.now()
  readonly #closed = Promise.withResolvers<Exchange>()
  outcome: ExchangeOutcome = 'answered'
  error: string | null = null
  sent = 0
  received = 0
  retried = false
  #firstByteMs: number | null = null

  /** Resolves once the record is closed. */
  get closed(): Promise<Exchange> {
    return this.#closed.promise
  }

  /** The head of the answer is there. */
  answered(): void {
    this.#firstByteMs ??= performance.now() - this.#started
  }

  /** The first failure decides the outcome. A code of the system is kept. */
  failed({ outcome, code }: Failure): void {
    if (this.outcome === 'answered') this.outcome = outcome
    this.error ??= code
  }

  /** @param status that the client was sent; `null`: none */
  close(status: number | null): void {
    this.#closed.resolve({
      outcome: this.outcome,
      status,
      sent_bytes: this.sent,
      received_bytes: this.received,
      first_byte_ms: this.#firstByteMs,
      total_ms: performance.now() - this.#started,
      retried: this.retried,
      error: this.error,
    })
  }
}
