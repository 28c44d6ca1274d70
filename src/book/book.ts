import { extname } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { AppError } from '../core/base/errors.ts'
import { createTaskThread } from '../runtime/task-thread.ts'
import type { StoreKey } from '../store/values/codec.ts'
import {
  type Arrival,
  type ArrivedFetch,
  type ArrivedOffer,
  type ArrivedResult,
  isRow,
} from './arrivals.ts'
import type { EventsTerms, EventTally } from './events/event-files.ts'
import type { Origin } from './rows/day-sums.ts'
import { type BookThread, Ledger } from './rows/ledger.ts'
import { isPassing } from './rows/passing-texts.ts'
import type { LedgerLimits } from './rows/prune.ts'
import type { Turn } from './rows/turn.ts'
import type { EventsStep, Tasks } from './tasks.ts'

type EventFate = 'written' | 'dropped' | 'failed'

export interface BookOptions {
  /** The data folder, in which the ledger has a file. */
  readonly folder: string
  /** `null`: there is no ledger. */
  readonly limits: LedgerLimits | null
  /** Telemetry; absent: there is none. */
  readonly events?: EventsTerms | null
  /** Whether sums name projects. */
  readonly hasProjects?: boolean
  /** Keys of the texts of results; empty: one of the folder's own. Absent: none are kept. */
  readonly textKeys?: readonly StoreKey[] | null
  /** Where all that is not known to be from elsewhere comes from. */
  readonly origin?: Origin
  /** Unix milliseconds. */
  now(): number
  /** Called once when writes begin to fail, with the reason. */
  onUnwritten(detail: string): void
  /** Counts rows that were dropped, because too many waited or a write failed. */
  onDropped(count: number): void
  /** Counts events: written, dropped because there was no room, or failed in the file system. */
  onEvents?(fate: EventFate, count: number): void
  /** The error when files of telemetry begin to fail. */
  onProblem?(error: Error): void
  onBug(bug: string): void
  /** How long a row waits at most, in milliseconds. */
  readonly flushMs?: number
  /** Instead of a thread of its own, for tests. */
  readonly thread?: BookThread
}

const FLUSH_MS = 1_000
/** Characters of texts that wait; those of later results are not kept. */
const MOST_WAITING_CHARS = 16 * 1024 * 1024
const PRUNE_MS = 60_000
const UPKEEP_MS = 600_000
/** What waits: some 20 MB. */
const MOST_WAITING = 20_000
/** What the thread may take for one task: the end of an upkeep may be waited for. */
const TASK_MS = 30_000
/** How often rows are written at the end, if another process holds the file. */
const LAST_WRITES = 3
/** Whose turn the thread takes for writes; tenants wait for their reads only. */
const WRITER = ''

/**
 * What became of each result and request: rows of the ledger and events of telemetry, without their
 * texts. One queue, and one thread that writes. Callers never wait for a write; if the disk or the
 * thread fails, figures are missing and requests go on. If another process holds the ledger, events
 * wait with their rows, so that each is written once.
 */
export class Book extends Ledger {
  readonly hasLedger: boolean
  readonly hasEvents: boolean
  protected readonly thread: BookThread
  readonly #options: BookOptions
  readonly #timers: readonly NodeJS.Timeout[]
  #waiting: Arrival[] = []
  #writing: Promise<void> = Promise.resolve()
  #waitingChars = 0
  #prunedAt = 0
  #isFailing = false
  /** Whether a write is about to begin before its time. */
  #isSoon = false
  /** Writes whose rows wait once more. */
  #putBacks = 0
  /** Events that wait in the thread. */
  #pending = 0

  constructor(options: BookOptions) {
    super(options)
    const { limits, events = null } = options
    this.#options = options
    this.hasLedger = limits !== null
    this.hasEvents = (events?.key ?? null) !== null
    this.thread =
      options.thread ??
      createTaskThread<Tasks>({
        name: 'the ledger',
        module: new URL(`./thread${extname(import.meta.url)}`, import.meta.url),
        limitMs: TASK_MS,
        onBug: options.onBug,
        onLost: reason => this.#fail(reason),
      })
    const every = (ms: number, work: () => Promise<unknown>) =>
      setInterval(() => void work(), ms).unref()
    const flushing = every(options.flushMs ?? FLUSH_MS, () => this.#tick())
    this.#timers = events === null ? [flushing] : [flushing, every(UPKEEP_MS, () => this.upkeep())]
    if (events !== null) void this.upkeep()
  }

  result(result: ArrivedResult): void {
    this.#add({ kind: 'result', ...this.#withRoom(this.#withOrigin(result)) })
    // Another process may get its text at once, and has to know that it is counted.
    if (this.hasLedger && isPassing(result.source) && !this.#isSoon) {
      this.#isSoon = true
      void turn().then(() => this.#flush())
    }
  }

  turn(turn: Turn): void {
    if (this.hasLedger) this.#add({ kind: 'turn', ...this.#withOrigin(turn) })
  }

  fetched(fetch: ArrivedFetch): void {
    if (this.hasLedger) this.#add({ kind: 'fetch', ...fetch })
  }

  offer(offer: Omit<ArrivedOffer, 'at'>): void {
    if (this.hasEvents) this.#add({ kind: 'offer', ...offer, at: this.#options.now() })
  }

  ended(tenant: string, session: string): void {
    if (this.hasEvents) this.#add({ kind: 'end', tenant, session })
  }

  /** Writes what waits. @returns false if rows still wait, because another process has the file */
  override async flush(): Promise<boolean> {
    const before = this.#putBacks
    await this.#flush()
    return this.#putBacks === before
  }

  /**
   * Writes all events, ends sessions that were idle for too long, and begins to look after the
   * files. Pages do not wait for that.
   */
  upkeep(): Promise<void> {
    return this.#flush(() => this.#events('lookAfter'))
  }

  /**
   * Writes what waits, and then runs `work` while no file is written. Without this, a summary could
   * be written into a folder that `work` has just deleted.
   * @throws what `work` throws
   */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<T>()
    await this.#flush(async () => {
      if (this.#options.events) await this.#events('settle')
      resolve(Promise.resolve().then(work))
      await promise.catch(() => {})
    })
    return promise
  }

  /** Writes what waits, and ends the thread. Nothing may be recorded after it. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    for (let i = 0; i < LAST_WRITES; i++) await this.#flush()
    this.#drop(this.#waiting)
    // A thread that never started has nothing to end; one that was lost is gone.
    if (this.isOpen) await this.#events('end')
    await this.thread.close()
  }

  #add(arrival: Arrival): void {
    if (this.#waiting.length < MOST_WAITING) this.#waiting.push(arrival)
    else this.#drop([arrival])
  }

  /** Counts what is written nowhere. */
  #drop(arrivals: readonly Arrival[], fate: EventFate = 'dropped'): void {
    this.#dropRows(arrivals)
    const events = arrivals.filter(({ kind }) => kind === 'result' || kind === 'offer').length
    if (this.hasEvents && events > 0) this.#options.onEvents?.(fate, events)
  }

  #dropRows(arrivals: readonly Arrival[]): void {
    const rows = arrivals.filter(isRow).length
    if (this.hasLedger && rows > 0) this.#options.onDropped(rows)
  }

  /** An agent is known by its user agent, else by the command that was run, else as a client. */
  #withOrigin<Arrived extends { readonly origin?: Origin | undefined }>(arrived: Arrived): Arrived {
    const { origin: own = {} } = this.#options
    const { project = own.project, agent = own.agent, client } = arrived.origin ?? {}
    return { ...arrived, origin: { project, agent, client, way: own.way } }
  }

  /** Without its texts, if too many wait. */
  #withRoom({ texts, ...result }: ArrivedResult): ArrivedResult {
    if (texts === undefined) return result
    const chars = texts.before.length + texts.after.length
    if (this.#waitingChars + chars > MOST_WAITING_CHARS) return result
    this.#waitingChars += chars
    return { ...result, texts }
  }

  /** One write after the other, and then `next`. Never rejects. */
  #flush(next?: () => Promise<void>): Promise<void> {
    const arrivals = this.#waiting
    if (arrivals.length > 0) {
      this.#waiting = []
      this.#waitingChars = 0
      this.#isSoon = false
      this.#writing = this.#writing.then(() => this.#write(arrivals))
    }
    if (next !== undefined) this.#writing = this.#writing.then(next)
    return this.#writing
  }

  async #write(arrivals: readonly Arrival[]): Promise<void> {
    const { folder, textKeys: keys = null, events = null } = this.#options
    this.begin()
    try {
      const input = { folder, keys, events, arrivals, hasLedger: this.hasLedger }
      this.#count(await this.thread.run(WRITER, 'write', input))
      this.#isFailing = false
    } catch (error) {
      // If only the ledger cannot be written, the thread has the events.
      if (isInternal(error)) this.#dropRows(arrivals)
      else if (!this.#putBack(arrivals, error)) this.#drop(arrivals, 'failed')
      this.#fail(String(error))
      return
    }
    if (!this.hasLedger) return
    // The rows are written by now: if this fails, they must not be written once more.
    await this.#prune()
    const changed = arrivals.filter(({ kind }) => kind === 'result' || kind === 'turn')
    this.tellWritten(new Set(changed.map(each => each.tenant)))
  }

  /** Has the thread do something about the files of telemetry, or end. Never rejects. */
  async #events(step: EventsStep): Promise<void> {
    const { folder, events = null } = this.#options
    if (step !== 'end') this.begin()
    const tally = await this.thread.run(WRITER, 'events', { folder, events, step }).catch(error => {
      if (step !== 'end' && !isAway(error)) this.#fail(String(error))
      return null
    })
    this.#count(tally)
  }

  #count(tally: EventTally | null): void {
    const { onEvents, onProblem } = this.#options
    this.#pending = tally?.pending ?? 0
    if (tally === null) return
    if (tally.written > 0) onEvents?.('written', tally.written)
    if (tally.failed > 0) onEvents?.('failed', tally.failed)
    if (tally.problem !== null) onProblem?.(tally.problem)
  }

  /** Writes, or keeps the limits while nothing arrives. */
  async #tick(): Promise<void> {
    const isIdle = this.#waiting.length === 0
    await this.#flush()
    if (!isIdle || !this.isOpen) return
    if (this.#pending > 0) await this.#flush(() => this.#events('flush'))
    if (this.hasLedger && this.#options.now() - this.#prunedAt >= PRUNE_MS) await this.#prune()
  }

  async #prune(): Promise<void> {
    const { folder, limits } = this.#options
    const now = this.#options.now()
    this.#prunedAt = now
    await this.thread.run(WRITER, 'prune', { folder, limits: limits!, now }).catch(error => {
      if (!isAway(error)) this.#fail(String(error))
    })
  }

  /** Rows that another process kept from being written wait once more, if there is room. */
  #putBack(arrivals: readonly Arrival[], error: unknown): boolean {
    if (!isAway(error) || this.#waiting.length + arrivals.length > MOST_WAITING) return false
    this.#putBacks++
    this.#waiting = [...arrivals, ...this.#waiting]
    return true
  }

  #fail(detail: string): void {
    if (!this.#isFailing) this.#options.onUnwritten(detail)
    this.#isFailing = true
  }
}

/** Whether the ledger can be used later. */
function isAway(error: unknown): boolean {
  return error instanceof AppError && error.code === 'overloaded'
}

/** Whether the task failed, and not its thread. */
function isInternal(error: unknown): boolean {
  return !(error instanceof AppError) || error.code === 'internal'
}
