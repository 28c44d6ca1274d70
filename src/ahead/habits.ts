import {
  addProbabilities,
  createProbabilities,
  type Probabilities,
  type ProbabilityState,
  probabilityState,
} from '../core/enrich/probability.ts'
import type { Store } from '../store/store.ts'

export interface HabitsOptions {
  readonly store: Pick<Store, 'readRecord' | 'writeRecord'>
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Called if habits cannot be written. */
  readonly onUnsaved: (detail: string) => void
}

/** The format is in the key. */
const RECORD = { namespace: 'enrichment', key: 'habits.v1' } as const
const FLUSH_MS = 5_000
/** How often a write is tried that another process came before. */
const MAX_ATTEMPTS = 8
/** Tenants in memory. Beyond that the first ones are read again when they are needed. */
const MAX_TENANTS = 1_000

/** How often the offers of tools are followed, by tenant, kept in the store. */
export class Habits {
  readonly #options: HabitsOptions
  readonly #tenants = new Map<string, Promise<Probabilities>>()
  readonly #dirty = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(options: HabitsOptions) {
    this.#options = options
  }

  /** Never rejects: what cannot be read begins with what the models state. */
  of(tenant: string): Promise<Probabilities> {
    const known = this.#tenants.get(tenant)
    if (known !== undefined) return known
    this.#makeRoom()
    const loaded = this.#read(tenant).then(({ state }) =>
      createProbabilities(this.#options.now, state),
    )
    this.#tenants.set(tenant, loaded)
    return loaded
  }

  /** Told after observations; they are written within seconds. */
  changed(tenant: string): void {
    this.#dirty.add(tenant)
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref()
  }

  /** Writes what is not written yet. Never rejects. */
  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing = this.#writing.then(() => this.#writeDirty())
    return this.#writing
  }

  async #writeDirty(): Promise<void> {
    for (const tenant of this.#dirty) {
      this.#dirty.delete(tenant)
      const habits = await this.#tenants.get(tenant)
      if (habits !== undefined) await this.#write(tenant, habits)
    }
  }

  /** Adds what was observed here to what another process may have written meanwhile. */
  async #write(tenant: string, habits: Probabilities): Promise<void> {
    const { store, now, onUnsaved } = this.#options
    const own = habits.takeUnsaved()
    let detail = 'other processes write it all the time'
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const { state, version } = await this.#read(tenant)
      const sum = state === undefined ? own : addProbabilities(state, own, now)
      const written = await store.writeRecord({
        tenant,
        ...RECORD,
        value: Buffer.from(JSON.stringify(sum)),
        ...(version === undefined ? {} : { ifVersion: version }),
      })
      if (written.ok) {
        habits.adopt(sum)
        return
      }
      detail = written.detail
      if (written.reason !== 'conflict' && written.reason !== 'lost') break
    }
    // They stay in force here, and are lost with the process.
    onUnsaved(detail)
  }

  async #read(tenant: string): Promise<{ state?: ProbabilityState; version?: number }> {
    const found = await this.#options.store.readRecord({ tenant, ...RECORD })
    if (found.ok) {
      const state = parseState(found.value)
      return { ...(state === undefined ? {} : { state }), version: found.version }
    }
    return found.reason === 'not_found' ? { version: 0 } : {}
  }

  #makeRoom(): void {
    for (const [tenant] of this.#tenants) {
      if (this.#tenants.size < MAX_TENANTS) return
      if (!this.#dirty.has(tenant)) this.#tenants.delete(tenant)
    }
  }
}

function parseState(value: Uint8Array): ProbabilityState | undefined {
  try {
    const parsed = probabilityState.safeParse(JSON.parse(Buffer.from(value).toString()))
    return parsed.success ? parsed.data : undefined
  } catch {
    return undefined
  }
}
