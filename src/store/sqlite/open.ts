import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { StoreEvent } from '../store.ts'
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
 * Opens the file, or makes it. One that is damaged is moved aside, reported, and a new one begun.
 * @throws NewerSchemaError, or SQLite's error where the folder cannot be used
 */
export function openDatabase(options: OpenOptions): DatabaseSync {
  const { folder } = options.settings
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
  const path = join(folder, FILE_NAME)
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
    return openFile(path, options)
  }
}

class DamagedFileError extends Error {}

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
  closeSync(openSync(path, 'a', 0o600))
  chmodSync(path, 0o600)
  const database = new DatabaseSync(path, { timeout: settings.busyTimeoutMs })
  try {
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

/** Finds files of others, files cut short, and with `thorough` any page that is not well-formed. */
function inspect(database: DatabaseSync, path: string, thorough: boolean): void {
  const pragma = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})
  if (pragma('application_id')[0] !== APPLICATION_ID) throw new DamagedFileError('not a store')
  const [busy, logged, copied] = pragma('wal_checkpoint(PASSIVE)')
  // Pages may be missing in the file only while they are in the log, or while another process writes:
  // a size that looks wrong is no proof, but a reason to read every page, which SQLite does of one moment.
  const settled = busy === 0 && logged === copied
  const short = settled && statSync(path).size < Number(pragma('page_count')[0]) * PAGE_BYTES
  if (!thorough && !short) return
  const [verdict] = pragma('quick_check(1)')
  if (verdict !== 'ok') throw new DamagedFileError(String(verdict))
}

/** Renames the file and its companions; nothing is deleted. Gives the new name of the main file. */
function moveAside(path: string, now: number): string {
  const stamp = new Date(now).toISOString().replaceAll(/[:.]/g, '-')
  let target = `${path}.damaged-${stamp}`
  for (let i = 1; existsSync(target); i++) target = `${path}.damaged-${stamp}-${i}`
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, target + suffix)
  }
  return target
}
