import type { Failure } from '../store.ts'

/** Waits for durability: one serves all writes that were sent before it, as in a group commit. */
export class GroupedWaits {
  readonly #wait: (key: string) => Promise<Failure | undefined>
  readonly #groups = new Map<string, Group>()

  /** @param wait one wait, for the node of a key */
  constructor(wait: (key: string) => Promise<Failure | undefined>) {
    this.#wait = wait
  }

  /** Resolves when a wait that begins from now on has ended, with why it was not reached. */
  next(key: string): Promise<Failure | undefined> {
    const group = this.#groups.get(key) ?? { next: null, running: null }
    this.#groups.set(key, group)
    group.next ??= this.#afterRunning(key, group)
    return group.next
  }

  async #afterRunning(key: string, group: Group): Promise<Failure | undefined> {
    await group.running
    group.running = group.next
    group.next = null
    const failure = await this.#wait(key)
    if (group.next === null) this.#groups.delete(key)
    return failure
  }
}

/** Writes that wait together. */
interface Group {
  next: Promise<Failure | undefined> | null
  running: Promise<Failure | undefined> | null
}
