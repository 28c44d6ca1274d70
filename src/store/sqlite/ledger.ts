import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { fail } from '../failure.ts'
import type { Failure, StoreEvent, StoreState } from '../store.ts'
import { createCounters } from './counters.ts'
import { removeOldDamaged } from './damaged-files.ts'
import type { Engine } from './engine.ts'
import { checkFolder, FILE_NAME, type OpenOptions } from './open.ts'
import { type Answer, type Call, isWrite, type OperationName } from './protocol.ts'
import type { Settings } from './settings.ts'
import { isDamage, isLostConnection, sqliteFailure } from './sqlite-errors.ts'
import { createStoreFile, type Opened } from './store-file.ts'
import { createSuspicion } from './suspicion.ts'
import { createTransfer } from './transfer.ts'

/** Runs calls in transactions, and keeps the file open whatever happens to it. */
export interface Ledger {
  read(call: CallOnly): Answer<OperationName>
  /**
   * Runs the first calls in one transaction, as many as fit its time and bytes. Answers correspond
   * to them, and are given after the commit: what they say is durable.
   */
  write(calls: readonly CallOnly[]): Answer<OperationName>[]
  /**
   * One step of upkeep; whether more is due. `quiet`: no call waits.
   */
  upkeep(quiet: boolean): boolean
  readonly state: StoreState
  close(): void
}

export type CallOnly = Pick<Call, 'op' | 'args' | 'bytes'>

export interface LedgerOptions {
  readonly settings: Settings
  readonly clock: () => number
  /** Measures how long a transaction lasts, in milliseconds. */
  readonly stopwatch: () => number
  onEvent(event: StoreEvent): void
  /** Seam for tests that make the file fail. */
  readonly open?: (options: OpenOptions) => DatabaseSync
}

type Operation = (...args: readonly unknown[]) => Answer<OperationName>

/** @throws NewerSchemaError, or SQLite's error if the file cannot be opened */
export function createLedger(options: LedgerOptions): Ledger {
  const { settings, stopwatch, onEvent } = options
  const path = join(settings.folder, FILE_NAME)
  const { count, values: counters } = createCounters()
  const transfer = createTransfer({ settings, path, clock: options.clock, onEvent })
  let failing = false
  let written = false
  let sweptAt = Number.NEGATIVE_INFINITY
  const file = createStoreFile({ ...options, path, count, counters, noteFailure })
  const suspicion = createSuspicion(file.wasUnclean)
  transfer.begin()
  if (!settings.mustExist) {
    checkFolder(settings, onEvent)
    sweep()
  }

  /** Damaged files that were moved aside do not stay for ever. */
  function sweep(): void {
    const now = options.clock()
    if (settings.mustExist || Math.abs(now - sweptAt) < SWEEP_MS) return
    sweptAt = now
    try {
      removeOldDamaged(path, now)
    } catch (error) {
      onEvent({ kind: 'write_failed', reason: 'failed', detail: String(error) })
    }
  }

  /**
   * Runs `work`; a file that shows damage is opened again, then begun again, and `work` runs again.
   */
  function attempt<T>(work: (opened: Opened) => T): T | undefined {
    for (let tries = 0; ; tries++) {
      const { opened } = file
      if (opened === null) return undefined
      try {
        return work(opened)
      } catch (error) {
        if (!file.mend(error, tries)) throw error
        if (file.opened !== null) transfer.begin()
      }
    }
  }

  function run(engine: Engine, { op, args }: CallOnly): Answer<OperationName> {
    const refusal = transfer.refusal(op)
    if (refusal !== undefined) return refusal
    const operation = isWrite(op) ? engine.writes[op] : engine.reads[op as keyof Engine['reads']]
    return transfer.corrected(op, (operation as Operation)(...args))
  }

  /** The answer of a call that threw, whatever was tried. */
  function explain(error: unknown): Failure {
    if (isDamage(error) || isLostConnection(error)) {
      file.stop()
      return DOWN
    }
    const failure = sqliteFailure(error)
    if (failure !== undefined) return failure
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error)
    onEvent({ kind: 'bug', detail })
    return fail('failed', 'unexpected error in the store')
  }

  function noteFailure(failure: Failure): void {
    if (failing || failure.reason === 'busy') return
    failing = true
    onEvent({ kind: 'write_failed', reason: failure.reason, detail: failure.detail })
  }

  function noteSuccess(): void {
    written = true
    count('commits')
    if (!failing) return
    failing = false
    onEvent({ kind: 'write_recovered' })
  }

  /** One transaction; throws what a statement threw, after taking everything back. */
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

  function runAll(engine: Engine, calls: readonly CallOnly[]): Answer<OperationName>[] {
    const started = stopwatch()
    const answers: Answer<OperationName>[] = []
    let bytes = 0
    for (const call of calls) {
      if (answers.length > 0 && bytes + call.bytes > settings.transactionBytes) break
      bytes += call.bytes
      answers.push(run(engine, call))
      if (stopwatch() - started >= settings.groupCommitMs) break
    }
    return answers
  }

  /** A transaction in the file that is there before and after it; `undefined` if there is none. */
  function durably<T>(work: (engine: Engine) => T): T | undefined {
    for (let tries = 0; tries < 2; tries++) {
      if (file.isReplaced()) file.reopenReplaced()
      if (file.opened === null) return undefined
      const result = transaction(file.opened, work)
      if (!file.isReplaced()) return result
    }
    file.reopenReplaced()
    return undefined
  }

  function write(calls: readonly CallOnly[]): Answer<OperationName>[] {
    try {
      const answers = attempt(() => durably(engine => runAll(engine, calls)))
      if (answers === undefined) return calls.map(() => DOWN)
      noteSuccess()
      count('refused', answers.filter(answer => !answer.ok).length)
      return answers
    } catch (error) {
      const ofFile = sqliteFailure(error) !== undefined
      const failure = explain(error)
      // One call's bug must not take the others with it: the first goes alone, the others come
      // again.
      if (!ofFile && calls.length > 1) return write(calls.slice(0, 1))
      if (ofFile) noteFailure(failure)
      count('refused', calls.length)
      return calls.map(() => failure)
    }
  }

  function readOne({ database, engine }: Opened, call: CallOnly): Answer<OperationName> {
    // One transaction, so that look-up and chunks are of one moment.
    database.exec('BEGIN')
    try {
      return run(engine, call)
    } finally {
      if (database.isTransaction) database.exec('ROLLBACK')
    }
  }

  /** Carries some rows over from a damaged file; whether there are more. */
  function salvageSome(): boolean {
    const until = stopwatch() + settings.groupCommitMs
    try {
      let tries = 0
      const isDone = attempt(() => {
        if (tries++ > 0) transfer.restart()
        return durably(engine => transfer.step(engine.restore, () => stopwatch() >= until))
      })
      written = true
      if (isDone === true) transfer.end()
      else if (isDone === undefined) transfer.restart()
      return transfer.isOn
    } catch (error) {
      transfer.restart()
      throw error
    }
  }

  const isUpkeepDue = () => attempt(({ engine }) => engine.upkeepDue()) === true

  /** One step of upkeep that may take long, for times when no call waits. */
  function tidy(opened: Opened): boolean {
    const { engine } = opened
    if (suspicion.isOpen) {
      suspicion.step(opened)
      return true
    }
    if (engine.shrink()) {
      written = true
      return true
    }
    if (written) engine.checkpoint()
    written = false
    return false
  }

  return {
    get state() {
      if (file.opened === null) return 'unavailable'
      return transfer.isOn ? 'salvaging' : 'open'
    },
    read(call) {
      try {
        return attempt(opened => readOne(opened, call)) ?? DOWN
      } catch (error) {
        return explain(error)
      }
    },
    write,
    upkeep(quiet) {
      sweep()
      const { opened } = file
      if (opened === null || file.isReplaced()) {
        // Another process found the file damaged and moved it, or the file was removed.
        if (opened === null) file.reopen()
        else file.reopenReplaced()
        if (file.opened !== null) transfer.begin()
        return false
      }
      try {
        if (transfer.isOn) return salvageSome()
        if (isUpkeepDue()) {
          write([{ op: 'upkeep', args: [], bytes: 0 }])
          return !failing && file.opened === opened && isUpkeepDue()
        }
        return quiet && attempt(tidy) === true
      } catch (error) {
        noteFailure(explain(error))
        return false
      }
    },
    close() {
      try {
        file.opened?.database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      } catch (error) {
        noteFailure(explain(error))
      }
      transfer.close()
      file.stop()
    },
  }
}

/** How often old damaged files are looked for, in milliseconds. */
const SWEEP_MS = 60 * 60_000

const DOWN = fail('unavailable', 'the store’s file cannot be opened')
