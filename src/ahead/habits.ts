import {
  Probabilities,
  type ProbabilityState,
  probabilityState,
} from '../core/enrich/probability.ts'
import type { Store } from '../store/store.ts'
import type { DecidedOffer } from './agent-contexts.ts'

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

interface Learned {
  all: Probabilities
  /** What was observed since the last write. */
  unsaved: readonly DecidedOffer[]
}

/** How often the offers of tools are followed, by tenant, kept in the store. */
export class Habits {
  readonly #options: HabitsOptions
  readonly #tenants = new Map<string, Promise<Learned>>()
  readonly #dirty = new Set<string>()
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(options: HabitsOptions) {
    this.#options = options
  }

  /** Never rejects: what cannot be read begins with what the models state. */
  async of(tenant: string): Promise<Pick<Probabilities, 'of'>> {
    return (await this.#learned(tenant)).all
  }

  /** Takes offers that were decided. They are written within seconds. Never rejects. */
  async observe(tenant: string, decided: readonly DecidedOffer[]): Promise<void> {
    const learned = await this.#learned(tenant)
    observeAll(learned.all, decided)
    learned.unsaved = [...learned.unsaved, ...decided]
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

  #learned(tenant: string): Promise<Learned> {
    const known = this.#tenants.get(tenant)
    if (known !== undefined) return known
    this.#makeRoom()
    const loaded = this.#read(tenant).then(({ known }) => ({ all: known, unsaved: [] }))
    this.#tenants.set(tenant, loaded)
    return loaded
  }

  async #writeDirty(): Promise<void> {
    for (const tenant of this.#dirty) {
      this.#dirty.delete(tenant)
      const learned = await this.#tenants.get(tenant)
      if (learned !== undefined) await this.#write(tenant, learned)
    }
  }

  /** Adds what was observed here to what another process may have written meanwhile. */
  async #write(tenant: string, learned: Learned): Promise<void> {
    const { store, onUnsaved } = this.#options
    const own = learned.unsaved
    learned.unsaved = []
    let detail = 'other processes write it all the time'
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const { known, version } = await this.#read(tenant)
      observeAll(known, own)
      const written = await store.writeRecord({
        tenant,
        ...RECORD,
        value: Buffer.from(JSON.stringify(known.save())),
        ...(version === undefined ? {} : { ifVersion: version }),
      })
      if (written.ok) {
        observeAll(known, learned.unsaved)
        learned.all = known
        return
      }
      detail = written.detail
      if (written.reason !== 'conflict' && written.reason !== 'lost') break
    }
    // They stay in force here, and are lost with the process.
    onUnsaved(detail)
  }

  async #read(tenant: string): Promise<{ known: Probabilities; version?: number }> {
    const { store, now } = this.#options
    const found = await store.readRecord({ tenant, ...RECORD })
    const known = new Probabilities(now, found.ok ? parseState(found.value) : undefined)
    if (found.ok) return { known, version: found.version }
    return found.reason === 'not_found' ? { known, version: 0 } : { known }
  }

  #makeRoom(): void {
    for (const [tenant] of this.#tenants) {
      if (this.#tenants.size < MAX_TENANTS) return
      if (!this.#dirty.has(tenant)) this.#tenants.delete(tenant)
    }
  }
}

function observeAll(probabilities: Probabilities, decided: readonly DecidedOffer[]): void {
  for (const { facts, isUsed } of decided) probabilities.observe(facts.offer, isUsed)
}

function parseState(value: Uint8Array): ProbabilityState | undefined {
  try {
    const parsed = probabilityState.safeParse(JSON.parse(Buffer.from(value).toString()))
    return parsed.success ? parsed.data : undefined
  } catch {
    return undefined
  }
}
