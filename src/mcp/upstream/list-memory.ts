import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import type { Clock } from './clock.ts'
import type { CallEnd } from './connection.ts'

/** Servers that report no changes are asked again after this time, in milliseconds. */
const MOST_AGE_MS = 60_000

/** The requests for lists, and which notification outdates each. */
const OUTDATED_BY: ReadonlyMap<string, string> = new Map([
  ['tools/list', 'notifications/tools/list_changed'],
  ['prompts/list', 'notifications/prompts/list_changed'],
  ['resources/list', 'notifications/resources/list_changed'],
  ['resources/templates/list', 'notifications/resources/list_changed'],
])

interface Kept {
  readonly method: string
  readonly until: number
  readonly end: Promise<CallEnd>
}

/** Pages of lists that one connection has read, for all clients that share it. */
export class ListMemory {
  readonly #clock: Clock
  readonly #kept = new Map<string, Kept>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  isList(method: string): boolean {
    return OUTDATED_BY.has(method)
  }

  /** The answer in memory, or one that is read now. */
  get(method: string, params: JsonBytes | null, read: () => Promise<CallEnd>): Promise<CallEnd> {
    const key = `${method} ${params?.toString('latin1') ?? ''}`
    const known = this.#kept.get(key)
    if (known !== undefined && this.#clock.now() < known.until) return known.end
    const end = read()
    const kept: Kept = { method, until: this.#clock.now() + MOST_AGE_MS, end }
    this.#kept.set(key, kept)
    void end.then(({ kind }) => {
      if (kind !== 'answered' && this.#kept.get(key) === kept) this.#kept.delete(key)
    })
    return end
  }

  /** @param method of a notification */
  outdate(method: string): void {
    for (const [key, kept] of this.#kept) {
      if (OUTDATED_BY.get(kept.method) === method) this.#kept.delete(key)
    }
  }

  clear(): void {
    this.#kept.clear()
  }
}
