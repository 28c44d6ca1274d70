import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { fail } from '../failure.ts'
import type { Failure, StoreEvent } from '../store.ts'
import { createCounters } from './counters.ts'
import { removeOldDamaged } from './damaged-files.ts'
import { createEngine, type Engine } from './engine.ts'
import { checkFolder, FILE_NAME, inodeOf, type OpenOptions, openDatabase } from './open.ts'
import { type Answer, type Call, isWrite, type OperationName } from './protocol.ts'
import type { Settings } from './settings.ts'
import { isDamage, sqliteFailure } from './sqlite-errors.ts'

/** Runs calls in transactions, and keeps the file open whatever happens to it. */
export interface Ledger {
  read(call: CallOnly): Answer<OperationName>
  /**
   * Runs the first calls in one transaction, as many as fit its time and bytes. Answers correspond to
   * them, and are given after the commit: what they say is durable.
   */
  write(calls: readonly CallOnly[]): Answer<OperationName>[]
  /** One step of what is to be done without being asked; whether more is due. `quiet`: nobody waits. */
  upkeep(quiet: boolean): boolean
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

/** @throws NewerSchemaError, or SQLite's error where the file cannot be opened */
export function createLedger(options: LedgerOptions): Ledger {
  const { settings, stopwatch, onEvent } = options
  const open = options.open ?? openDatabase
  const path = join(settings.folder, FILE_NAME)
  const { count, values: counters } = createCounters()
  let opened: { database: DatabaseSync; engine: Engine; inode: number | undefined } | null =
    start(false)
  let failing = false
  let written = false
  let sweptAt = Number.NEGATIVE_INFINITY
  if (!settings.mustExist) {
    checkFolder(settings, onEvent)
    sweep()
  }

  /** Damaged files that were moved aside do not stay for ever. */
  function sweep(): void {
    const now = options.clock()
    if (settings.mustExist || now - sweptAt < SWEEP_MS) return
    sweptAt = now
    try {
      removeOldDamaged(path, now)
    } catch (error) {
      onEvent({ kind: 'write_failed', reason: 'failed', detail: String(error) })
    }
  }

  function start(thorough: boolean) {
    const database = open({ settings, clock: options.clock, onEvent, thorough })
    const deps = { settings, clock: options.clock, count, counters, onEvent }
    return { database, engine: createEngine(database, deps), inode: inodeOf(path) }
  }

  /** Opens the file again; where that fails, calls fail until a later upkeep succeeds. */
  function reopen(thorough: boolean): void {
    stop()
    try {
      opened = start(thorough)
    } catch (error) {
      noteFailure(sqliteFailure(error) ?? fail('failed', String(error)))
    }
  }

  /** Whether the path leads to another file than the one that is open: what is written there is lost. */
  function replaced(): boolean {
    return opened !== null && inodeOf(path) !== opened.inode
  }

  function reopenReplaced(): void {
    onEvent({ kind: 'file_replaced' })
    reopen(false)
  }

  function stop(): void {
    const last = opened
    opened = null
    try {
      last?.database.close()
    } catch (error) {
      noteFailure(fail('failed', String(error)))
    }
  }

  function run(engine: Engine, { op, args }: CallOnly): Answer<OperationName> {
    const operation = isWrite(op) ? engine.writes[op] : engine.reads[op as keyof Engine['reads']]
    return (operation as Operation)(...args)
  }

  /** The answer of a call that threw; a damaged file is opened anew. */
  function explain(error: unknown): Failure {
    if (isDamage(error)) {
      const detail = (error as Error).message
      onEvent({ kind: 'damaged_file', moved_to: null, detail })
      reopen(true)
      return fail('failed', 'the store’s file is damaged')
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
  function transaction(database: DatabaseSync, engine: Engine, calls: readonly CallOnly[]) {
    const started = stopwatch()
    const answers: Answer<OperationName>[] = []
    let bytes = 0
    database.exec('BEGIN IMMEDIATE')
    try {
      engine.begun()
      for (const call of calls) {
        if (answers.length > 0 && bytes + call.bytes > settings.transactionBytes) break
        bytes += call.bytes
        answers.push(run(engine, call))
        if (stopwatch() - started >= settings.groupCommitMs) break
      }
      database.exec('COMMIT')
      return answers
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK')
      throw error
    }
  }

  /** A transaction in the file that is there before and after it; `undefined` where there is none. */
  function durably(calls: readonly CallOnly[]): Answer<OperationName>[] | undefined {
    for (let attempt = 0; attempt < 2; attempt++) {
      if (replaced()) reopenReplaced()
      if (opened === null) return undefined
      const answers = transaction(opened.database, opened.engine, calls)
      if (!replaced()) return answers
    }
    reopenReplaced()
    return undefined
  }

  function write(calls: readonly CallOnly[]): Answer<OperationName>[] {
    try {
      const answers = durably(calls)
      if (answers === undefined) return calls.map(() => DOWN)
      noteSuccess()
      count('refused', answers.filter(answer => !answer.ok).length)
      return answers
    } catch (error) {
      const ofFile = sqliteFailure(error) !== undefined
      const failure = explain(error)
      // One call's bug must not take the others with it: the first goes alone, the others come again.
      if (!ofFile && calls.length > 1) return write(calls.slice(0, 1))
      if (ofFile) noteFailure(failure)
      count('refused', calls.length)
      return calls.map(() => failure)
    }
  }

  return {
    read(call) {
      if (opened === null) return DOWN
      const { database, engine } = opened
      try {
        // One transaction, so that look-up and chunks are of one moment.
        database.exec('BEGIN')
        try {
          return run(engine, call)
        } finally {
          if (database.isTransaction) database.exec('ROLLBACK')
        }
      } catch (error) {
        return explain(error)
      }
    },
    write,
    upkeep(quiet) {
      sweep()
      if (opened === null || replaced()) {
        // Another process found the file damaged and moved it, or somebody removed it.
        if (opened === null) reopen(false)
        else reopenReplaced()
        return false
      }
      try {
        const { database, engine } = opened
        if (engine.upkeepDue()) {
          write([{ op: 'upkeep', args: [], bytes: 0 }])
          return !failing && database === opened?.database && engine.upkeepDue()
        }
        if (!quiet) return false
        if (engine.shrink()) {
          written = true
          return true
        }
        if (written) engine.checkpoint()
        written = false
      } catch (error) {
        noteFailure(explain(error))
      }
      return false
    },
    close() {
      try {
        opened?.database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      } catch (error) {
        noteFailure(explain(error))
      }
      stop()
    },
  }
}

/** How often old damaged files are looked for, in milliseconds. */
const SWEEP_MS = 60 * 60_000

const DOWN = fail('failed', 'the store’s file cannot be opened')
