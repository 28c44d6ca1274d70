import type { McpCaller } from '../http-exchange.ts'

/** Bounds how many requests listen at a time: of one caller, and of all. */
export class ListenLimit {
  readonly #most: number
  readonly #mostOfCaller: number
  readonly #counts = new Map<string, number>()
  #all = 0

  constructor(most: number, mostOfCaller: number) {
    this.#most = most
    this.#mostOfCaller = mostOfCaller
  }

  /** @returns what must be called at the end; `null` if there are too many */
  enter({ tenant, credential }: McpCaller): (() => void) | null {
    const key = JSON.stringify([tenant, credential])
    const count = this.#counts.get(key) ?? 0
    if (this.#all >= this.#most || count >= this.#mostOfCaller) return null
    this.#counts.set(key, count + 1)
    this.#all++
    return () => {
      this.#all--
      const left = (this.#counts.get(key) ?? 1) - 1
      if (left === 0) this.#counts.delete(key)
      else this.#counts.set(key, left)
    }
  }
}
