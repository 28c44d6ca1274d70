/** Lets only so many pieces of work be under way at a time. The others wait, in their order. */
export class Turns {
  readonly #waiting: (() => void)[] = []
  #left: number

  constructor(atOnce: number) {
    this.#left = atOnce
  }

  /** Runs work when its turn comes. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#left > 0) this.#left--
    else await new Promise<void>(resolve => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#left++
      else next()
    }
  }
}
