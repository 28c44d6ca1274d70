import type { RawHeaders } from '../../proxy/headers.ts'
import type { SeenAnswer, UsageObserver } from '../../proxy/usage-observer.ts'

/** What was seen of the rounds of one answer. */
export interface SeenRounds {
  /** The last round, which ends the answer. */
  readonly last: Promise<SeenAnswer>
  /** Rounds that the client knows nothing of. */
  readonly hidden: readonly Promise<SeenAnswer>[]
}

/** Observes each round of an answer by an observer of its own. */
export class UsageOfRounds {
  readonly #observe: () => UsageObserver
  #last: UsageObserver
  #hasBegun = false
  readonly #hidden: UsageObserver[] = []

  constructor(observe: () => UsageObserver) {
    this.#observe = observe
    this.#last = observe()
  }

  head(status: number, headers: RawHeaders): void {
    if (this.#hasBegun) {
      this.#hidden.push(this.#last)
      this.#last = this.#observe()
    }
    this.#hasBegun = true
    this.#last.head(status, headers)
  }

  chunk(bytes: Uint8Array): void {
    this.#last.chunk(bytes)
  }

  /** Called once the exchange is over. */
  finish(): SeenRounds {
    return {
      last: this.#last.finish(),
      hidden: this.#hidden.map(observer => observer.finish()),
    }
  }
}
