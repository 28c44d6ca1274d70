import { accessSync, constants, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import type { Failure } from '../store.ts'
import { fail } from '../values/failure.ts'
import type { StoreEvent } from '../values/store-event.ts'
import type { StoreStats } from '../values/store-figures.ts'
import type { Count } from './counters.ts'
import { keepLog, moveAside, removeOldDamaged } from './damaged-files.ts'
import { createEngine, type Engine } from './engine.ts'
import { inspectLog, type LogFault } from './inspect-log.ts'
import { checkAll, checkTotals, inodeOf, type OpenOptions, openDatabase } from './open.ts'
import { hasOurTables } from './schema.ts'
import type { Settings } from './settings.ts'
import {
  DamagedFileError,
  isDamage,
  isLostConnection,
  isOdd,
  isReadOnly,
  sqliteFailure,
} from './sqlite-errors.ts'

export interface Opened {
  readonly database: DatabaseSync
  readonly engine: Engine
  readonly inode: number | undefined
}

export interface StoreFileOptions {
  readonly settings: Settings
  readonly path: string
  readonly clock: () => number
  readonly stopwatch: () => number
  readonly count: Count
  readonly counters: StoreStats['counters']
  onEvent(event: StoreEvent): void
  noteFailure(failure: Failure): void
  /** Seam for tests that make the file fail. */
  readonly open?: (options: OpenOptions) => DatabaseSync
}

/**
 * Time between two new files, so that a disk that damages every file does not fill up with them.
 */
const BETWEEN_NEW_FILES_MS = 5_000
/** How often an error that may be a bug makes us read the whole file. */
const BETWEEN_CHECKS_MS = 60_000
/** Another process that writes makes a log look cut for a moment. */
const LOG_LOOKS = 3
const LOG_PAUSE_MS = 20

/**
 * Holds the open file, if there is one. If the file shows damage, it is opened again, or a new one
 * is begun.
 */
export class StoreFile {
  /** Whether a process had left a log when the file was first opened. */
  readonly wasUnclean: boolean
  readonly #options: StoreFileOptions
  #opened: Opened | null
  #movedAt = Number.NEGATIVE_INFINITY
  #checkedAt = Number.NEGATIVE_INFINITY

  /** @throws NewerSchemaError, ForeignFileError, or SQLite's error if the file cannot be opened */
  constructor(options: StoreFileOptions) {
    this.#options = options
    this.wasUnclean = !options.settings.mustExist && sizeOf(`${options.path}-wal`) > 0
    this.#opened = this.#start()
  }

  get opened(): Opened | null {
    return this.#opened
  }

  /** Opens the file again; if that fails, it is tried again by the next upkeep. */
  reopen(): void {
    this.#become(() => this.#start())
  }

  /**
   * Whether the path leads to another file than the one that is open: what is written there is
   * lost.
   */
  isReplaced(): boolean {
    return this.#opened !== null && inodeOf(this.#options.path) !== this.#opened.inode
  }

  reopenReplaced(): void {
    this.#options.onEvent({ kind: 'file_replaced' })
    this.reopen()
  }

  /**
   * Handles an error: first it opens the file again, and if that does not help, it begins a new
   * one.
   * @param tries how often the same work has failed before
   * @returns whether the work should run again
   */
  mend(error: unknown, tries: number): boolean {
    if (this.isReplaced()) {
      this.#options.onEvent({ kind: 'file_replaced' })
      this.reopen()
      return tries === 0
    }
    const ofFile = sqliteFailure(error) !== undefined || isDamage(error)
    const isCertain = isDamage(error)
    if (!isCertain && !isLostConnection(error) && !isOdd(error) && ofFile) return false
    if (tries === 0) {
      if (isCertain)
        this.#options.onEvent({ kind: 'damaged_file', moved_to: null, detail: messageOf(error) })
      this.reopen()
      return true
    }
    if (tries > 1) return false
    const damage = isCertain ? error : this.#showsDamage()
    if (damage === null) return false
    this.#become(() => this.#replace(damage))
    return true
  }

  stop(): void {
    const last = this.#opened
    this.#opened = null
    try {
      last?.database.close()
    } catch (error) {
      this.#options.noteFailure(fail('failed', String(error)))
    }
  }

  #openOnce(thorough: boolean): Opened {
    const { settings, path, clock, count, counters, onEvent, open = openDatabase } = this.#options
    const database = open({ settings, thorough })
    try {
      const engine = createEngine(database, { settings, clock, count, counters, onEvent })
      return { database, engine, inode: inodeOf(path) }
    } catch (error) {
      database.close()
      throw error
    }
  }

  /**
   * Opens the file at the start. If it shows damage before the first call, it is moved aside and a
   * new one begun.
   */
  #start(): Opened {
    const { settings, path, clock, onEvent } = this.#options
    if (settings.mustExist) return this.#existing()
    const log = steadyFault(path)
    if (log !== null) {
      keepLog(path, clock())
      onEvent({ kind: 'damaged_log', lost_pages: log.lostPages, detail: log.detail })
    }
    const inode = inodeOf(path)
    try {
      return this.#openOnce(log !== null)
    } catch (error) {
      if (!this.#isUnusable(error)) throw error
      // Another process may have found the same and begun a new file already.
      if (inode !== undefined && inodeOf(path) !== inode) return this.#openOnce(false)
      return this.#replace(error)
    }
  }

  #existing(): Opened {
    try {
      return this.#openOnce(false)
    } catch (error) {
      if (!isDamage(error)) throw error
      throw new Error(
        `the store in ${this.#options.settings.folder} is damaged; the service begins a new one at its start`,
      )
    }
  }

  /** Whether no later attempt can open the file either. */
  #isUnusable(error: unknown): boolean {
    if (isDamage(error)) return true
    // A header may forbid every write.
    if (isReadOnly(error)) return mayWrite(this.#options.path)
    return isOdd(error) && isUnsound(this.#options.path)
  }

  /** @throws Error if the folder cannot be changed, or a new file was begun a moment ago */
  #replace(error: unknown): Opened {
    const { settings, path, clock, stopwatch, onEvent } = this.#options
    const detail = messageOf(error)
    if (settings.mustExist || stopwatch() - this.#movedAt < BETWEEN_NEW_FILES_MS) {
      onEvent({ kind: 'damaged_file', moved_to: null, detail })
      throw error
    }
    this.#movedAt = stopwatch()
    const moved_to = moveAside(path, clock())
    onEvent({ kind: 'damaged_file', moved_to, detail })
    removeOldDamaged(path, clock())
    return this.#openOnce(false)
  }

  #become(next: () => Opened): void {
    this.stop()
    try {
      this.#opened = next()
    } catch (error) {
      this.#options.noteFailure(sqliteFailure(error) ?? fail('failed', String(error)))
    }
  }

  /** The damage that a check of the whole file finds; checked rarely, because it takes long. */
  #showsDamage(): DamagedFileError | null {
    if (this.#opened === null || this.#options.stopwatch() - this.#checkedAt < BETWEEN_CHECKS_MS)
      return null
    this.#checkedAt = this.#options.stopwatch()
    try {
      checkAll(this.#opened.database)
      return null
    } catch (error) {
      return error instanceof DamagedFileError ? error : new DamagedFileError(String(error))
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** A fault of the log that stays while one looks at it several times. */
function steadyFault(path: string): LogFault | null {
  let fault: LogFault | null = null
  for (let look = 0; look < LOG_LOOKS; look++) {
    if (look > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOG_PAUSE_MS)
    const found = inspectLog(path)
    if (found === null || (fault !== null && found.detail !== fault.detail)) return null
    fault = found
  }
  return fault
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Whether a file that showed an error that could be ours has tables that are not, or cannot be
 * read.
 */
function isUnsound(path: string): boolean {
  const database = new DatabaseSync(path)
  try {
    checkAll(database)
    return !hasOurTables(database)
  } catch (error) {
    return isDamage(error) || isOdd(error)
  } finally {
    database.close()
  }
}

/**
 * If the last process did not close the file, every body is read once, between the calls. Otherwise
 * damage that no call finds would be noticed much later, when its time is unknown.
 */
export interface Suspicion {
  readonly isOpen: boolean
  /** @throws DamagedFileError, or SQLite's error */
  step(opened: Opened): void
}

/** Bodies of one step; it ends earlier after 8 MiB. */
const STEP_BODIES = 64

export function createSuspicion(isOpen: boolean): Suspicion {
  let cursor: number | null = isOpen ? 0 : null

  return {
    get isOpen() {
      return cursor !== null
    },
    step({ database, engine }) {
      database.exec('BEGIN')
      try {
        const checked = engine.reads.verify(STEP_BODIES, cursor ?? 0)
        const next = checked.ok ? checked.cursor : null
        if (next === null) checkTotals(database)
        cursor = next
      } finally {
        if (database.isTransaction) database.exec('ROLLBACK')
      }
    },
  }
}
