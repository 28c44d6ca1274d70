/** Processes of one server for one tenant, and of all. */
const MOST_OF_ONE = 8
const MOST = 64

/** Counts the processes of servers, so that many clients do not start any number. */
export class ChildPlaces {
  readonly #taken = new Map<string, number>()
  #all = 0

  /**
   * @param owner the server and the tenant
   * @returns `false` if there is no place
   */
  take(owner: string): boolean {
    const taken = this.#taken.get(owner) ?? 0
    if (taken >= MOST_OF_ONE || this.#all >= MOST) return false
    this.#taken.set(owner, taken + 1)
    this.#all++
    return true
  }

  leave(owner: string): void {
    const left = (this.#taken.get(owner) ?? 0) - 1
    if (left <= 0) this.#taken.delete(owner)
    else this.#taken.set(owner, left)
    this.#all--
  }
}
