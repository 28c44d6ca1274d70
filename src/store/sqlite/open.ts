import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { StoreEvent } from '../store.ts'
import { moveAside, removeOldDamaged } from './damaged-files.ts'
import { APPLICATION_ID, migrate } from './schema.ts'
import { PAGE_BYTES, type Settings } from './settings.ts'
import { isDamage, sqliteFailure } from './sqlite-errors.ts'

/** The database inside the folder; SQLite keeps `-wal` and `-shm` beside it, with the same mode. */
export const FILE_NAME = 'store.sqlite'

const OPEN_ATTEMPTS = 20
const OPEN_PAUSE_MS = 50

export interface OpenOptions {
  readonly settings: Settings
  /** Milliseconds since 1970; for the name of a file that is moved aside. */
  readonly clock: () => number
  /** Read every page first; for a file that showed damage while it was in use. */
  readonly thorough?: boolean
  onEvent(event: StoreEvent): void
}

/**
 * Opens the file, or makes it. One that is damaged is moved aside, reported, and a new one begun; but where
 * it must exist, nothing is made and nothing moved.
 * @throws NewerSchemaError, ForeignFileError, or SQLite's error where the folder cannot be used
 */
export function openDatabase(options: OpenOptions): DatabaseSync {
  const { folder, mustExist } = options.settings
  const path = join(folder, FILE_NAME)
  if (mustExist) return openExisting(folder, path, options)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const inode = inodeOf(path)
  try {
    return openPatiently(path, options)
  } catch (error) {
    if (!(error instanceof DamagedFileError) && !isDamage(error)) throw error
    // Another process may have found the same and begun a new file already.
    if (inode !== undefined && inodeOf(path) !== inode) return openPatiently(path, options)
    const moved_to = moveAside(path, options.clock())
    const detail = error instanceof Error ? error.message : String(error)
    options.onEvent({ kind: 'damaged_file', moved_to, detail })
    removeOldDamaged(path, options.clock())
    return openFile(path, options)
  }
}

function openExisting(folder: string, path: string, options: OpenOptions): DatabaseSync {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) {
    throw new Error(`no store in ${folder}`)
  }
  try {
    return openPatiently(path, options)
  } catch (error) {
    if (!(error instanceof DamagedFileError) && !isDamage(error)) throw error
    throw new Error(`the store in ${folder} is damaged; the service begins a new one at its start`)
  }
}

class DamagedFileError extends Error {}

/** A database of another program has our file's name: it is neither changed nor moved away. */
class ForeignFileError extends Error {
  constructor(path: string) {
    super(`${path} is another program's database; use another folder`)
    this.name = 'ForeignFileError'
  }
}

/** Reports a folder that others may look into. It is not ours to change: we did not make it. */
export function checkFolder({ folder }: Settings, onEvent: OpenOptions['onEvent']): void {
  const mode = statSync(folder).mode & 0o777
  if ((mode & 0o077) !== 0) onEvent({ kind: 'open_folder', folder, mode: mode.toString(8) })
}

/** Tells a file from another of the same name; `undefined` where there is none. */
export function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino
}

/** Tries again while another process sets the same new file up; SQLite does not wait for that by itself. */
function openPatiently(path: string, options: OpenOptions): DatabaseSync {
  for (let attempt = 1; ; attempt++) {
    try {
      return openFile(path, options)
    } catch (error) {
      if (attempt === OPEN_ATTEMPTS || sqliteFailure(error)?.reason !== 'busy') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, OPEN_PAUSE_MS)
    }
  }
}

function openFile(path: string, { settings, thorough }: OpenOptions): DatabaseSync {
  // SQLite would make it readable for all; its other files take this one's mode.
  if (!settings.mustExist) closeSync(openSync(path, 'a', 0o600))
  const database = new DatabaseSync(path, { timeout: settings.busyTimeoutMs })
  try {
    if (isForeign(database)) throw new ForeignFileError(path)
    for (const suffix of ['', '-wal', '-shm']) closeToOthers(path + suffix)
    if (Number(database.prepare('PRAGMA page_count').get()?.['page_count']) === 0) {
      // These must come before anything is in the file, and would wait for writers later.
      database.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
      database.exec('PRAGMA auto_vacuum = INCREMENTAL')
    }
    database.exec('PRAGMA journal_mode = WAL')
    database.exec('PRAGMA synchronous = FULL')
    database.exec('PRAGMA secure_delete = FAST')
    database.exec(`PRAGMA cache_size = -${Math.ceil(settings.cacheBytes / 1024)}`)
    database.exec(`PRAGMA wal_autocheckpoint = ${settings.checkpointPages}`)
    database.exec(`PRAGMA journal_size_limit = ${settings.checkpointPages * PAGE_BYTES}`)
    migrate(database)
    inspect(database, path, thorough === true)
    database.exec(`PRAGMA max_page_count = ${settings.maxPages}`)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Changes nothing. A file without any table is one that another process is about to set up. */
function isForeign(database: DatabaseSync): boolean {
  const first = (sql: string) => Object.values(database.prepare(sql).get() ?? {})[0]
  // Of one moment, so that a set-up by another process is seen wholly or not at all.
  database.exec('BEGIN')
  try {
    if (first('PRAGMA application_id') === APPLICATION_ID) return false
    return [
      'PRAGMA application_id',
      'PRAGMA user_version',
      'SELECT count(*) FROM sqlite_schema',
    ].some(sql => first(sql) !== 0)
  } finally {
    if (database.isTransaction) database.exec('ROLLBACK')
  }
}

function closeToOthers(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0
  if ((mode & 0o077) !== 0) chmodSync(path, 0o600)
}

/** Finds files cut short, and with `thorough` any page that is not well-formed. */
function inspect(database: DatabaseSync, path: string, thorough: boolean): void {
  const pragma = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})
  const [busy, logged, copied] = pragma('wal_checkpoint(PASSIVE)')
  // Pages may be missing in the file only while they are in the log, or while another process writes:
  // a size that looks wrong is no proof, but a reason to read every page, which SQLite does of one moment.
  const settled = busy === 0 && logged === copied
  const short = settled && statSync(path).size < Number(pragma('page_count')[0]) * PAGE_BYTES
  if (!thorough && !short) return
  const [verdict] = pragma('quick_check(1)')
  if (verdict !== 'ok') throw new DamagedFileError(String(verdict))
}
