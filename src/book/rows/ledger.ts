import { EventEmitter } from 'node:events'
import { BoundedMap } from '../../core/base/bounded-map.ts'
import { AppError } from '../../core/base/errors.ts'
import type { GainAnswer } from '../../core/contract/gain.ts'
import type { TaskThread } from '../../runtime/task-thread.ts'
import type { StoreKey } from '../../store/values/codec.ts'
import type { Tasks } from '../tasks.ts'
import { dayOf } from './day-of.ts'
import type {
  ConversationDetail,
  ConversationPage,
  LedgerResult,
  Overview,
  ToolTable,
} from './figures.ts'
import type { FoundTexts } from './kept-texts.ts'
import { hourOf } from './write-rows.ts'

export type BookThread = Pick<TaskThread<Tasks>, 'run' | 'close'>

interface LedgerPlace {
  /** The data folder, in which the ledger has a file. */
  readonly folder: string
  readonly textKeys?: readonly StoreKey[] | null
  /** Unix milliseconds. */
  now(): number
}

/** How long a read is shared, in milliseconds: other processes write too. And how many are. */
const SHARED_MS = 1_000
const MOST_SHARED = 100
/** Figures that are shown again if they cannot be read. */
const MOST_LAST = 100

interface SharedRead {
  readonly at: number
  readonly answer: Promise<unknown>
}

interface LastFigures {
  readonly at: number
  readonly figures: unknown
}

/**
 * Reads what became of each result and request. What was recorded is in it; what another process on
 * the same folder recorded is in it once that process has written it. All reads throw AppError
 * `overloaded`, `internal`, `worker_lost` or `timeout` if the same was not read before. Otherwise
 * that is returned again, and `readAt` has its time.
 */
export abstract class Ledger {
  protected abstract readonly thread: BookThread
  /** Whether the thread may have the file open. */
  protected isOpen = false
  readonly #place: LedgerPlace
  readonly #written = new EventEmitter().setMaxListeners(0)
  /** Reads since the last write, by what they are of. */
  readonly #reads = new BoundedMap<string, SharedRead>(MOST_SHARED)
  /** The last figures, by what they are of. */
  readonly #last = new BoundedMap<string, LastFigures>(MOST_LAST)
  readonly #stale = new WeakMap<object, number>()

  constructor(place: LedgerPlace) {
    this.#place = place
  }

  /** Writes what waits. @returns false if rows still wait, because another process has the file */
  abstract flush(): Promise<boolean>

  /**
   * Sums of the last hours.
   * @param hours of the window, and of each of its parts
   */
  async overview(tenant: string, hours: number, bucketHours: number): Promise<Overview> {
    return this.#read(tenant, 'overview', { ...this.#window(tenant, hours), hours: bucketHours })
  }

  async tools(tenant: string, hours: number): Promise<ToolTable> {
    return this.#read(tenant, 'tools', this.#window(tenant, hours))
  }

  async conversations(tenant: string, offset: number, limit: number): Promise<ConversationPage> {
    return this.#read(tenant, 'conversations', { tenant, offset, limit })
  }

  /** `null` if the tenant has none of this id. */
  async conversation(tenant: string, id: string): Promise<ConversationDetail | null> {
    return this.#read(tenant, 'conversation', { tenant, id })
  }

  async item(tenant: string, id: number): Promise<LedgerResult | null> {
    return this.#read(tenant, 'result', { tenant, id })
  }

  /** Both sides of a result; `null` if they are not kept. */
  async texts(tenant: string, id: number): Promise<FoundTexts | null> {
    await this.flush()
    const { folder, textKeys: keys = null } = this.#place
    if (keys === null) return null
    this.isOpen = true
    const now = this.#place.now()
    return this.thread.run(tenant, 'texts', { folder, keys, tenant, id, now })
  }

  async latest(tenant: string, limit: number): Promise<readonly LedgerResult[]> {
    return this.#read(tenant, 'latest', { tenant, limit })
  }

  /**
   * Sums of the last days, today included, of tenants of which the first waits for them.
   * @param project the only one; `null`: all
   */
  async gain(
    tenants: readonly string[],
    days: number,
    project: string | null,
  ): Promise<GainAnswer> {
    const to = dayOf(this.#place.now())
    return this.#read(tenants[0]!, 'gain', { tenants, from: to - days + 1, to, project })
  }

  /** When figures were read, if they could not be read again since; else `null`. */
  readAt(figures: object): number | null {
    return this.#stale.get(figures) ?? null
  }

  /** Calls back after something of the tenant was written. @returns how to end that */
  onWritten(tenant: string, listener: () => void): () => void {
    this.#written.on(nameOf(tenant), listener)
    return () => this.#written.off(nameOf(tenant), listener)
  }

  /** Says that a write begins: what was read before it is not shared any more. */
  protected begin(): void {
    this.isOpen = true
    this.#reads.clear()
  }

  protected tellWritten(tenants: Iterable<string>): void {
    for (const tenant of tenants) this.#written.emit(nameOf(tenant))
  }

  /**
   * Reads after a write of what waits, so that a page has what was answered before it. Pages that
   * ask for the same share one read, unless something was written in between.
   */
  async #read<Name extends keyof Tasks>(
    tenant: string,
    name: Name,
    input: Omit<Parameters<Tasks[Name]>[0], 'folder'>,
  ): Promise<Awaited<ReturnType<Tasks[Name]>>> {
    await this.flush()
    this.isOpen = true
    const key = JSON.stringify([name, input])
    const now = this.#place.now()
    const known = this.#reads.get(key)
    if (known !== undefined && Math.abs(now - known.at) < SHARED_MS) return known.answer as never
    const whole = { folder: this.#place.folder, ...input } as Parameters<Tasks[Name]>[0]
    const answer = this.thread.run(tenant, name, whole).then(
      figures => {
        this.#last.set(key, { at: now, figures })
        return figures
      },
      error => this.#again(key, error),
    )
    this.#reads.set(key, { at: now, answer })
    answer.catch(() => this.#reads.delete(key))
    return answer
  }

  /** The last figures of the same question, marked as such. @throws error if there are none */
  #again(key: string, error: unknown): never {
    const last = this.#last.get(key)
    if (!(error instanceof AppError) || last === undefined) throw error
    const copy = structuredClone(last.figures)
    if (typeof copy === 'object' && copy !== null) this.#stale.set(copy, last.at)
    return copy as never
  }

  #window(tenant: string, hours: number) {
    const to = hourOf(this.#place.now()) + 1
    return { tenant, from: to - hours, to }
  }
}

/** No tenant's name is the name of an event with a meaning of its own. */
function nameOf(tenant: string): string {
  return `tenant ${tenant}`
}
