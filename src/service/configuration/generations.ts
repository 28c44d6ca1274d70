import { hash } from 'node:crypto'
import type { Generation } from '../../pool/job.ts'
import type { Store } from '../../store/store.ts'

/** Generations that are at hand. */
const IN_MEMORY = 64
/** The bytes that these may have beside those in force. */
const MAX_BYTES = 16 * 1024 * 1024

/** Records of a tenant's configurations, by generation. */
const NAMESPACE = 'generations'
const ID = /^[0-9a-f]{16}$/

export interface GenerationsOptions {
  readonly store: Pick<Store, 'readRecord' | 'writeRecord'>
  /** How long the record of a rewrite is kept, asked each time. */
  ttlMs(): number
  now(): number
}

/** The configurations that conversations keep: the latest in memory, all in the store. */
export class Generations {
  readonly #options: GenerationsOptions
  /** The most recently used last. */
  readonly #known = new Map<string, Generation>()
  /** When a tenant's generation was stored. */
  readonly #stored = new Map<string, number>()
  #bytes = 0

  constructor(options: GenerationsOptions) {
    this.#options = options
  }

  /** Has a generation at hand, instead of those that were not used for longest. */
  add(generation: Generation): void {
    const { id, bytes } = generation
    const before = this.#known.get(id)
    this.#known.delete(id)
    this.#known.set(id, before ?? generation)
    if (before === undefined) this.#bytes += bytes.byteLength
    for (const [oldest, { bytes: own }] of this.#known) {
      const isFull = this.#known.size > IN_MEMORY || this.#bytes > MAX_BYTES
      if (!isFull || oldest === id) return
      this.#known.delete(oldest)
      this.#bytes -= own.byteLength
    }
  }

  /** How many are at hand, and their bytes. */
  get load() {
    return { generations: this.#known.size, bytes: this.#bytes }
  }

  /** Returns `null` if neither memory nor the store has it for the tenant. */
  async find(tenant: string, id: string): Promise<Generation | null> {
    const found = this.#known.get(id) ?? (await this.#read(tenant, id))
    if (found !== null) this.add(found)
    return found
  }

  /** Makes a generation durable for a tenant, before a conversation is recorded with it. */
  async keep(tenant: string, { id, bytes }: Generation): Promise<void> {
    const { store, ttlMs, now } = this.#options
    const name = nameOf(tenant, id)
    const at = now()
    // A conversation may begin at the end of that time, and is recorded as long again.
    if (at - (this.#stored.get(name) ?? Number.NEGATIVE_INFINITY) < ttlMs()) return
    const value = new Uint8Array(bytes).slice()
    const key = { tenant, namespace: NAMESPACE, key: keyOf(id) }
    const result = await store.writeRecord({ ...key, value, ttlMs: 2 * ttlMs() + SLACK_MS })
    if (result.ok) this.#note(name, at)
  }

  async #read(tenant: string, id: string): Promise<Generation | null> {
    if (!ID.test(id)) return null
    const key = { tenant, namespace: NAMESPACE, key: keyOf(id) }
    const result = await this.#options.store.readRecord(key)
    if (!result.ok) return null
    const bytes = new SharedArrayBuffer(result.value.byteLength)
    new Uint8Array(bytes).set(result.value)
    return { id, bytes }
  }

  #note(name: string, at: number): void {
    this.#stored.delete(name)
    this.#stored.set(name, at)
    for (const oldest of this.#stored.keys()) {
      if (this.#stored.size <= MAX_NOTES) return
      this.#stored.delete(oldest)
    }
  }
}

/** Times of storing that are remembered. */
const MAX_NOTES = 10_000
/** More than a clock is set back by. */
const SLACK_MS = 3_600_000

function nameOf(tenant: string, id: string): string {
  return `${id} ${tenant}`
}

function keyOf(id: string): string {
  return hash('sha256', id, 'hex')
}
