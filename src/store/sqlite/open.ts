import { chmodSync, closeSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeFolder } from '../../files/make-folder.ts'
import type { StoreEvent } from '../values/store-event.ts'
import { APPLICATION_ID, hasOurTables, migrate, SCHEMA_VERSION } from './schema.ts'
import { PAGE_BYTES, type Settings } from './settings.ts'
import { DamagedFileError, sqliteFailure } from './sqlite-errors.ts'

/** The database inside the folder; SQLite keeps `-wal` and `-shm` beside it, with the same mode. */
export const FILE_NAME = 'store.sqlite'

const OPEN_ATTEMPTS = 20
const OPEN_PAUSE_MS = 50

/** A header with a much later version is damaged, if the tables are ours. */
const LATER_VERSIONS = 100

export interface OpenOptions {
  readonly settings: Settings
  /** Read every page first; for a file of which something is known to be missing. */
  readonly thorough?: boolean
}

/**
 * Opens the file, or creates it unless it must exist.
 * @throws DamagedFileError, or SQLite's error, if the file is damaged; NewerSchemaError,
 * ForeignFileError; any other error if the folder cannot be used
 */
export function openDatabase(options: OpenOptions): DatabaseSync {
  const { folder, mustExist } = options.settings
  const path = join(folder, FILE_NAME)
  if (!mustExist) {
    makeFolder(folder)
    return openPatiently(path, options)
  }
  if (sizeOf(path) === 0) throw new Error(`no store in ${folder}`)
  return openPatiently(path, options)
}

/** A database of another program has our file's name: it is neither changed nor moved away. */
class ForeignFileError extends Error {
  constructor(path: string) {
    super(`${path} is another program's database; use another folder`)
    this.name = 'ForeignFileError'
  }
}

/** Reports a folder that other users may read. We do not change it, because we did not make it. */
export function checkFolder({ folder }: Settings, onEvent: (event: StoreEvent) => void): void {
  const mode = statSync(folder).mode & 0o777
  if ((mode & 0o077) !== 0) onEvent({ kind: 'open_folder', folder, mode: mode.toString(8) })
}

/** Identifies a file among others of the same name; `undefined` if there is none. */
export function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino
}

/**
 * Tries again while another process sets the same new file up; SQLite does not wait for that by
 * itself.
 */
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
  // SQLite would treat the file as new, and remove the log without an error.
  if (sizeOf(path) === 0 && sizeOf(`${path}-wal`) > 0) {
    throw new DamagedFileError('the main file is empty, its log is not')
  }
  // SQLite would make the file readable for all. Its other files get this file's mode.
  if (!settings.mustExist) closeSync(openSync(path, 'a', 0o600))
  const formats = formatsOf(path)
  const database = new DatabaseSync(path, { timeout: settings.busyTimeoutMs })
  try {
    if (isForeign(database)) throw new ForeignFileError(path)
    for (const suffix of ['', '-wal', '-shm']) closeToOthers(path + suffix)
    if (Number(database.prepare('PRAGMA page_count').get()?.['page_count']) === 0) {
      // These settings must come before anything is in the file, and would wait for writers later.
      database.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
      database.exec('PRAGMA auto_vacuum = INCREMENTAL')
    }
    const mode = database.prepare('PRAGMA journal_mode = WAL').get()?.['journal_mode']
    if (mode !== 'wal') throw new DamagedFileError(`its journal stays ${String(mode)}`)
    database.exec('PRAGMA synchronous = FULL')
    database.exec('PRAGMA secure_delete = FAST')
    database.exec(`PRAGMA cache_size = -${Math.ceil(settings.cacheBytes / 1024)}`)
    database.exec(`PRAGMA wal_autocheckpoint = ${settings.checkpointPages}`)
    database.exec(`PRAGMA journal_size_limit = ${settings.checkpointPages * PAGE_BYTES}`)
    migrate(database)
    inspect(database, path, formats, thorough === true)
    database.exec(`PRAGMA max_page_count = ${settings.maxPages}`)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/**
 * Changes nothing. A file without any table is one that another process is about to set up.
 * @throws DamagedFileError if the tables are ours and the mark is not
 */
function isForeign(database: DatabaseSync): boolean {
  const first = (sql: string) => Object.values(database.prepare(sql).get() ?? {})[0]
  // One transaction, so that a set-up by another process is seen completely or not at all.
  database.exec('BEGIN')
  try {
    const version = Number(first('PRAGMA user_version'))
    const isMarked = first('PRAGMA application_id') === APPLICATION_ID
    const isPlausible = version >= 1 && version <= SCHEMA_VERSION + LATER_VERSIONS
    if (isMarked && isPlausible) return false
    if (hasOurTables(database)) throw new DamagedFileError('its header does not fit its tables')
    if (isMarked) return false
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
function inspect(
  database: DatabaseSync,
  path: string,
  formats: Uint8Array,
  thorough: boolean,
): void {
  // A larger number would make SQLite refuse every write.
  if (formats.some(version => version > 2)) {
    throw new DamagedFileError('its header asks for a later format')
  }
  const pragma = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})
  const [busy, logged, copied] = pragma('wal_checkpoint(PASSIVE)')
  // Pages may be missing in the file while they are in the log, or while another process writes. So
  // a wrong size does not prove damage, but it is a reason to read every page. SQLite does that
  // with one state of the file.
  const settled = busy === 0 && logged === copied
  const short = settled && statSync(path).size < Number(pragma('page_count')[0]) * PAGE_BYTES
  if (!thorough && !short) return
  checkAll(database)
}

/** Reads every page, and compares tables with their indexes and sums. @throws DamagedFileError */
export function checkAll(database: DatabaseSync): void {
  const [verdict] = Object.values(database.prepare('PRAGMA integrity_check(1)').get() ?? {})
  if (verdict !== 'ok') throw new DamagedFileError(String(verdict))
  checkTotals(database)
}

/** @throws DamagedFileError if there are more or fewer bodies than were written */
export function checkTotals(database: DatabaseSync): void {
  const counted = database
    .prepare(
      `SELECT (SELECT count(*) FROM body NOT INDEXED) AS found,
         (SELECT count(*) FROM body INDEXED BY body_by_hash) AS listed,
         (SELECT coalesce(sum(bodies), 0) FROM tenant) AS written`,
    )
    .get()
  const [found, listed, written] = Object.values(counted ?? {})
  if (found !== written || listed !== written) {
    throw new DamagedFileError(
      `it has ${found} bodies, lists ${listed}, and should have ${written}`,
    )
  }
}

/**
 * The versions of the format for writing and reading, from the header. Only for a file that this
 * process has not opened with SQLite: closing any descriptor of a file drops all POSIX locks of the
 * process on it, and then another process that ends removes the log under us
 * (sqlite.org/howtocorrupt.html, 2.2).
 */
function formatsOf(path: string): Uint8Array {
  const formats = new Uint8Array(2)
  const file = openSync(path, 'r')
  try {
    readSync(file, formats, 0, 2, 18)
  } finally {
    closeSync(file)
  }
  return formats
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
