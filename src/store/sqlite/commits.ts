import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Failure } from '../store.ts'
import { fail } from '../values/failure.ts'
import type { StoreEvent } from '../values/store-event.ts'
import type { StoreState } from '../values/store-figures.ts'
import { type Count, createCounters } from './counters.ts'
import { removeOldDamaged } from './damaged-files.ts'
import type { Engine } from './engine.ts'
import { checkFolder, FILE_NAME, type OpenOptions } from './open.ts'
import { type Answer, type Call, isWrite, type OperationName } from './protocol.ts'
import type { Settings } from './settings.ts'
import { isDamage, isLostConnection, sqliteFailure } from './sqlite-errors.ts'
import { createSuspicion, type Opened, StoreFile, type Suspicion } from './store-file.ts'
import { createTransfer, type Transfer } from './transfer.ts'

export type CallOnly = Pick<Call, 'op' | 'args' | 'bytes'>

export interface CommitsOptions {
  readonly settings: Settings
  readonly clock: () => number
  /** Measures how long a transaction lasts, in milliseconds. */
  readonly stopwatch: () => number
  onEvent(event: StoreEvent): void
  /** Seam for tests that make the file fail. */
  readonly open?: (options: OpenOptions) => DatabaseSync
}

type Operation = (...args: readonly unknown[]) => Answer<OperationName>

/** Runs calls in transactions, and keeps the file open whatever happens to it. */
export class Commits {
  readonly #options: CommitsOptions
  readonly #path: string
  readonly #count: Count
  readonly #file: StoreFile
  readonly #suspicion: Suspicion
  readonly #transfer: Transfer
  #failing = false
  #written = false
  #sweptAt = Number.NEGATIVE_INFINITY

  /** @throws NewerSchemaError, or SQLite's error if the file cannot be opened */
  constructor(options: CommitsOptions) {
    const { settings, clock, onEvent } = options
    const path = join(settings.folder, FILE_NAME)
    const { count, values: counters } = createCounters()
    this.#options = options
    this.#path = path
    this.#count = count
    this.#transfer = createTransfer({ settings, path, clock, onEvent })
    const noteFailure = (failure: Failure) => this.#noteFailure(failure)
    this.#file = new StoreFile({ ...options, path, count, counters, noteFailure })
    this.#suspicion = createSuspicion(this.#file.wasUnclean)
    this.#transfer.begin()
    if (settings.mustExist) return
    checkFolder(settings, onEvent)
    this.#sweep()
  }

  get state(): StoreState {
    if (this.#file.opened === null) return 'unavailable'
    return this.#transfer.isOn ? 'salvaging' : 'open'
  }

  read(call: CallOnly): Answer<OperationName> {
    try {
      return this.#attempt(opened => this.#readOne(opened, call)) ?? DOWN
    } catch (error) {
      return this.#explain(error)
    }
  }

  /**
   * Runs the first calls in one transaction, as many as fit its time and bytes. Answers correspond
   * to them, and are returned after the commit: what they report is durable.
   */
  write(calls: readonly CallOnly[]): Answer<OperationName>[] {
    try {
      const answers = this.#attempt(() => this.#durably(engine => this.#runAll(engine, calls)))
      if (answers === undefined) return calls.map(() => DOWN)
      this.#noteSuccess()
      this.#count('refused', answers.filter(answer => !answer.ok).length)
      return answers
    } catch (error) {
      const ofFile = sqliteFailure(error) !== undefined
      const failure = this.#explain(error)
      // A bug of one call must not fail the others. So the first call runs alone, and the others
      // run again.
      if (!ofFile && calls.length > 1) return this.write(calls.slice(0, 1))
      if (ofFile) this.#noteFailure(failure)
      this.#count('refused', calls.length)
      return calls.map(() => failure)
    }
  }

  /** One step of upkeep; whether more is due. `quiet`: no call waits. */
  upkeep(quiet: boolean): boolean {
    this.#sweep()
    const { opened } = this.#file
    if (opened === null || this.#file.isReplaced()) {
      // Another process found the file damaged and moved it, or the file was removed.
      if (opened === null) this.#file.reopen()
      else this.#file.reopenReplaced()
      if (this.#file.opened !== null) this.#transfer.begin()
      return false
    }
    try {
      if (this.#transfer.isOn) return this.#salvageSome()
      if (this.#isUpkeepDue()) {
        this.write([{ op: 'upkeep', args: [], bytes: 0 }])
        return !this.#failing && this.#file.opened === opened && this.#isUpkeepDue()
      }
      return quiet && this.#attempt(each => this.#tidy(each)) === true
    } catch (error) {
      this.#noteFailure(this.#explain(error))
      return false
    }
  }

  close(): void {
    try {
      this.#file.opened?.database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } catch (error) {
      this.#noteFailure(this.#explain(error))
    }
    this.#transfer.close()
    this.#file.stop()
  }

  /** Removes old damaged files that were moved aside. */
  #sweep(): void {
    const now = this.#options.clock()
    if (this.#options.settings.mustExist || Math.abs(now - this.#sweptAt) < SWEEP_MS) return
    this.#sweptAt = now
    try {
      removeOldDamaged(this.#path, now)
    } catch (error) {
      this.#options.onEvent({ kind: 'write_failed', reason: 'failed', detail: String(error) })
    }
  }

  /**
   * Runs `work`. If the file shows damage, it is opened again, then replaced by a new one, and
   * `work` runs again.
   */
  #attempt<T>(work: (opened: Opened) => T): T | undefined {
    for (let tries = 0; ; tries++) {
      const { opened } = this.#file
      if (opened === null) return undefined
      try {
        return work(opened)
      } catch (error) {
        if (!this.#file.mend(error, tries)) throw error
        if (this.#file.opened !== null) this.#transfer.begin()
      }
    }
  }

  #run(engine: Engine, { op, args }: CallOnly): Answer<OperationName> {
    const refusal = this.#transfer.refusal(op)
    if (refusal !== undefined) return refusal
    const operation = isWrite(op) ? engine.writes[op] : engine.reads[op as keyof Engine['reads']]
    return this.#transfer.corrected(op, (operation as Operation)(...args))
  }

  /** The answer of a call that threw, whatever was tried. */
  #explain(error: unknown): Failure {
    if (isDamage(error) || isLostConnection(error)) {
      this.#file.stop()
      return DOWN
    }
    const failure = sqliteFailure(error)
    if (failure !== undefined) return failure
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error)
    this.#options.onEvent({ kind: 'bug', detail })
    return fail('failed', 'unexpected error in the store')
  }

  #noteFailure(failure: Failure): void {
    if (this.#failing || failure.reason === 'busy') return
    this.#failing = true
    this.#options.onEvent({ kind: 'write_failed', reason: failure.reason, detail: failure.detail })
  }

  #noteSuccess(): void {
    this.#written = true
    this.#count('commits')
    if (!this.#failing) return
    this.#failing = false
    this.#options.onEvent({ kind: 'write_recovered' })
  }

  #runAll(engine: Engine, calls: readonly CallOnly[]): Answer<OperationName>[] {
    const { settings, stopwatch } = this.#options
    const started = stopwatch()
    const answers: Answer<OperationName>[] = []
    let bytes = 0
    for (const call of calls) {
      if (answers.length > 0 && bytes + call.bytes > settings.transactionBytes) break
      bytes += call.bytes
      answers.push(this.#run(engine, call))
      if (stopwatch() - started >= settings.groupCommitMs) break
    }
    return answers
  }

  /** A transaction in the file that is there before and after it; `undefined` if there is none. */
  #durably<T>(work: (engine: Engine) => T): T | undefined {
    for (let tries = 0; tries < 2; tries++) {
      if (this.#file.isReplaced()) this.#file.reopenReplaced()
      if (this.#file.opened === null) return undefined
      const result = transaction(this.#file.opened, work)
      if (!this.#file.isReplaced()) return result
    }
    this.#file.reopenReplaced()
    return undefined
  }

  #readOne({ database, engine }: Opened, call: CallOnly): Answer<OperationName> {
    // One transaction, so that lookup and chunks see the same state.
    database.exec('BEGIN')
    try {
      return this.#run(engine, call)
    } finally {
      if (database.isTransaction) database.exec('ROLLBACK')
    }
  }

  /** Carries some rows over from a damaged file. Returns whether there are more. */
  #salvageSome(): boolean {
    const { settings, stopwatch } = this.#options
    const until = stopwatch() + settings.groupCommitMs
    try {
      let tries = 0
      const isDone = this.#attempt(() => {
        if (tries++ > 0) this.#transfer.restart()
        return this.#durably(engine =>
          this.#transfer.step(engine.restore, () => stopwatch() >= until),
        )
      })
      this.#written = true
      if (isDone === true) this.#transfer.end()
      else if (isDone === undefined) this.#transfer.restart()
      return this.#transfer.isOn
    } catch (error) {
      this.#transfer.restart()
      throw error
    }
  }

  #isUpkeepDue(): boolean {
    return this.#attempt(({ engine }) => engine.upkeepDue()) === true
  }

  /** One step of upkeep that may take long, for times when no call waits. */
  #tidy(opened: Opened): boolean {
    const { engine } = opened
    if (this.#suspicion.isOpen) {
      this.#suspicion.step(opened)
      return true
    }
    if (engine.shrink()) {
      this.#written = true
      return true
    }
    if (this.#written) engine.checkpoint()
    this.#written = false
    return false
  }
}

/** How often old damaged files are looked for, in milliseconds. */
const SWEEP_MS = 60 * 60_000

const DOWN = fail('unavailable', 'the store’s file cannot be opened')

/**
 * Runs one transaction. If a statement throws, everything is rolled back and the error is thrown.
 */
function transaction<T>({ database, engine }: Opened, work: (engine: Engine) => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    engine.begun()
    const result = work(engine)
    database.exec('COMMIT')
    return result
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}
