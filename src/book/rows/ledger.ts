import { EventEmitter } from 'node:events'
import { extname } from 'node:path'
import { BoundedMap } from '../../core/base/bounded-map.ts'
import { AppError } from '../../core/base/errors.ts'
import type { GainAnswer } from '../../core/contract/gain.ts'
import { createTaskThread } from '../../runtime/task-thread.ts'
import { dayOf } from './day-of.ts'
import type { Origin } from './day-sums.ts'
import type {
  ConversationDetail,
  ConversationPage,
  LedgerResult,
  Overview,
  ToolTable,
} from './figures.ts'
import type { FoundTexts } from './kept-texts.ts'
import type { LedgerOptions, LedgerThread } from './ledger-options.ts'
import { isPassing } from './passing-texts.ts'
import type { Tasks } from './tasks.ts'
import type { Turn } from './turn.ts'
import { type Arrivals, type ArrivedFetch, type ArrivedResult, hourOf } from './write-rows.ts'

/** What became of each result and request, without their texts. Callers never wait for a write. */
export interface Ledger {
  result(result: ArrivedResult): void
  turn(turn: Turn): void
  fetched(fetch: ArrivedFetch): void
  /**
   * Sums of the last hours. What was recorded is in it; what another process on the same folder
   * recorded is in it once that process has written it.
   * @param hours of the window, and of each of its parts
   * @throws AppError `overloaded`, `internal`, `worker_lost`, `timeout`, as all reads do, if the
   * same was not read before. Otherwise that is returned again, and `readAt` has its time
   */
  overview(tenant: string, hours: number, bucketHours: number): Promise<Overview>
  tools(tenant: string, hours: number): Promise<ToolTable>
  conversations(tenant: string, offset: number, limit: number): Promise<ConversationPage>
  /** `null` if the tenant has none of this id. */
  conversation(tenant: string, id: string): Promise<ConversationDetail | null>
  item(tenant: string, id: number): Promise<LedgerResult | null>
  /** Both sides of a result; `null` if they are not kept. */
  texts(tenant: string, id: number): Promise<FoundTexts | null>
  latest(tenant: string, limit: number): Promise<readonly LedgerResult[]>
  /**
   * Sums of the last days, today included, of tenants of which the first waits for them.
   * @param project the only one; `null`: all
   */
  gain(tenants: readonly string[], days: number, project: string | null): Promise<GainAnswer>
  /** When figures were read, if they could not be read again since; else `null`. */
  readAt(figures: object): number | null
  /** Calls back after something of the tenant was written. @returns how to end that */
  onWritten(tenant: string, listener: () => void): () => void
  /** Writes what waits. @returns false if rows still wait, because another process has the file */
  flush(): Promise<boolean>
  /** Writes what waits, and ends the thread. Nothing may be recorded after it. */
  close(): Promise<void>
}

const FLUSH_MS = 1_000
/** Characters of texts that wait; those of later results are not kept. */
const MOST_WAITING_CHARS = 16 * 1024 * 1024
const PRUNE_MS = 60_000
/** Rows that wait: some 10 MB. */
const MOST_WAITING = 20_000
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

/** How often rows are written at the end, if another process holds the file. */
const LAST_WRITES = 3
/** Whose turn the thread takes for writes; tenants wait for their reads only. */
const WRITER = ''

export function createLedger(options: LedgerOptions): Ledger {
  return new ThreadLedger(options)
}

class ThreadLedger implements Ledger {
  readonly #options: LedgerOptions
  readonly #thread: LedgerThread
  readonly #written = new EventEmitter().setMaxListeners(0)
  readonly #timer: NodeJS.Timeout
  #waiting: { results: ArrivedResult[]; turns: Turn[]; fetches: ArrivedFetch[] } = nothing()
  #writing: Promise<void> = Promise.resolve()
  #waitingChars = 0
  #prunedAt = 0
  #isFailing = false
  /** Whether a write is about to begin before its time. */
  #isSoon = false
  /** Writes whose rows wait once more. */
  #putBacks = 0
  /** Reads since the last write, by what they are of. */
  readonly #reads = new BoundedMap<string, SharedRead>(MOST_SHARED)
  /** The last figures, by what they are of. */
  readonly #last = new BoundedMap<string, LastFigures>(MOST_LAST)
  readonly #stale = new WeakMap<object, number>()
  /** Whether the thread may have the file open. */
  #isOpen = false

  constructor(options: LedgerOptions) {
    this.#options = options
    this.#thread =
      options.thread ??
      createTaskThread<Tasks>({
        name: 'the ledger',
        module: new URL(`./thread${extname(import.meta.url)}`, import.meta.url),
        onBug: options.onBug,
        onLost: reason => this.#fail(reason),
      })
    this.#timer = setInterval(() => void this.#tick(), options.flushMs ?? FLUSH_MS).unref()
  }

  result(result: ArrivedResult): void {
    if (!this.#hasRoom()) return
    this.#waiting.results.push(this.#withRoom(this.#withOrigin(result)))
    // Another process may get its text at once, and has to know that it is counted.
    if (isPassing(result.source) && !this.#isSoon) {
      this.#isSoon = true
      setImmediate(() => void this.#flush())
    }
  }

  turn(turn: Turn): void {
    if (this.#hasRoom()) this.#waiting.turns.push(this.#withOrigin(turn))
  }

  fetched(fetch: ArrivedFetch): void {
    if (this.#hasRoom()) this.#waiting.fetches.push(fetch)
  }

  async overview(tenant: string, hours: number, bucketHours: number): Promise<Overview> {
    return this.#read(tenant, 'overview', { ...this.#window(tenant, hours), hours: bucketHours })
  }

  async tools(tenant: string, hours: number): Promise<ToolTable> {
    return this.#read(tenant, 'tools', this.#window(tenant, hours))
  }

  async conversations(tenant: string, offset: number, limit: number): Promise<ConversationPage> {
    return this.#read(tenant, 'conversations', { tenant, offset, limit })
  }

  async conversation(tenant: string, id: string): Promise<ConversationDetail | null> {
    return this.#read(tenant, 'conversation', { tenant, id })
  }

  async item(tenant: string, id: number): Promise<LedgerResult | null> {
    return this.#read(tenant, 'result', { tenant, id })
  }

  async texts(tenant: string, id: number): Promise<FoundTexts | null> {
    await this.#flush()
    const { folder, textKeys: keys = null } = this.#options
    if (keys === null) return null
    this.#isOpen = true
    const now = this.#options.now()
    return this.#thread.run(tenant, 'texts', { folder, keys, tenant, id, now })
  }

  async latest(tenant: string, limit: number): Promise<readonly LedgerResult[]> {
    return this.#read(tenant, 'latest', { tenant, limit })
  }

  async gain(tenants: readonly string[], days: number, project: string | null) {
    const to = dayOf(this.#options.now())
    return this.#read(tenants[0]!, 'gain', { tenants, from: to - days + 1, to, project })
  }

  readAt(figures: object): number | null {
    return this.#stale.get(figures) ?? null
  }

  onWritten(tenant: string, listener: () => void): () => void {
    this.#written.on(nameOf(tenant), listener)
    return () => this.#written.off(nameOf(tenant), listener)
  }

  async flush(): Promise<boolean> {
    const before = this.#putBacks
    await this.#flush()
    return this.#putBacks === before
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    for (let i = 0; i < LAST_WRITES; i++) await this.#flush()
    const lost = sizeOf(this.#waiting)
    if (lost > 0) this.#options.onDropped(lost)
    const { folder } = this.#options
    // A thread that never started has nothing to end; one that was lost is gone.
    if (this.#isOpen) await this.#thread.run(WRITER, 'end', { folder }).catch(() => undefined)
    await this.#thread.close()
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
    await this.#flush()
    this.#isOpen = true
    const key = JSON.stringify([name, input])
    const now = this.#options.now()
    const known = this.#reads.get(key)
    if (known !== undefined && Math.abs(now - known.at) < SHARED_MS) return known.answer as never
    const whole = { folder: this.#options.folder, ...input } as Parameters<Tasks[Name]>[0]
    const answer = this.#thread.run(tenant, name, whole).then(
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
    const to = hourOf(this.#options.now()) + 1
    return { tenant, from: to - hours, to }
  }

  /** An agent is known by its user agent, else by the command that was run, else as a client. */
  #withOrigin<Arrived extends { readonly origin?: Origin | undefined }>(arrived: Arrived): Arrived {
    const { origin: own = {}, hasProjects = true } = this.#options
    const { project = own.project, agent = own.agent, client } = arrived.origin ?? {}
    const of = { project: hasProjects ? project : undefined, agent, client, way: own.way }
    return { ...arrived, origin: of }
  }

  #hasRoom(): boolean {
    if (sizeOf(this.#waiting) < MOST_WAITING) return true
    this.#options.onDropped(1)
    return false
  }

  /** One write after the other. Never rejects. */
  #flush(): Promise<void> {
    if (sizeOf(this.#waiting) === 0) return this.#writing
    const arrivals = this.#waiting
    this.#waiting = nothing()
    this.#waitingChars = 0
    this.#isSoon = false
    this.#writing = this.#writing.then(() => this.#write(arrivals))
    return this.#writing
  }

  async #write(arrivals: Arrivals): Promise<void> {
    const { folder, textKeys: keys = null } = this.#options
    this.#isOpen = true
    this.#reads.clear()
    try {
      await this.#thread.run(WRITER, 'write', { folder, arrivals, keys })
      this.#isFailing = false
    } catch (error) {
      if (!this.#putBack(arrivals, error)) this.#options.onDropped(sizeOf(arrivals))
      this.#fail(String(error))
      return
    }
    // The rows are written by now: if this fails, they must not be written once more.
    await this.#prune()
    const { results, turns } = arrivals
    for (const tenant of new Set([...results, ...turns].map(each => each.tenant))) {
      this.#written.emit(nameOf(tenant))
    }
  }

  /** Writes, or keeps the limits while nothing arrives. */
  async #tick(): Promise<void> {
    const isIdle = sizeOf(this.#waiting) === 0
    await this.#flush()
    if (isIdle && this.#isOpen && this.#options.now() - this.#prunedAt >= PRUNE_MS) {
      await this.#prune()
    }
  }

  async #prune(): Promise<void> {
    const { folder, limits } = this.#options
    const now = this.#options.now()
    this.#prunedAt = now
    await this.#thread.run(WRITER, 'prune', { folder, limits, now }).catch(error => {
      if (!isAway(error)) this.#fail(String(error))
    })
  }

  /** Without its texts, if too many wait. */
  #withRoom({ texts, ...result }: ArrivedResult): ArrivedResult {
    if (texts === undefined) return result
    const chars = texts.before.length + texts.after.length
    if (this.#waitingChars + chars > MOST_WAITING_CHARS) return result
    this.#waitingChars += chars
    return { ...result, texts }
  }

  /** Rows that another process kept from being written wait once more, if there is room. */
  #putBack({ results, turns, fetches }: Arrivals, error: unknown): boolean {
    const waiting = this.#waiting
    const isWaiting = sizeOf(waiting) + sizeOf({ results, turns, fetches }) <= MOST_WAITING
    if (!isAway(error) || !isWaiting) return false
    this.#putBacks++
    this.#waiting = {
      results: [...results, ...waiting.results],
      turns: [...turns, ...waiting.turns],
      fetches: [...fetches, ...waiting.fetches],
    }
    return true
  }

  #fail(detail: string): void {
    if (!this.#isFailing) this.#options.onUnwritten(detail)
    this.#isFailing = true
  }
}

/** No tenant's name is the name of an event with a meaning of its own. */
function nameOf(tenant: string): string {
  return `tenant ${tenant}`
}

/** Whether the ledger can be used later. */
function isAway(error: unknown): boolean {
  return error instanceof AppError && error.code === 'overloaded'
}

function nothing() {
  return { results: [], turns: [], fetches: [] }
}

function sizeOf({ results, turns, fetches }: Arrivals): number {
  return results.length + turns.length + fetches.length
}
