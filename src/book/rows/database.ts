import { chmodSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { LEDGER_FILE } from '../../runtime/data-files.ts'
import { DAY_TABLE } from './day-sums.ts'
import { TEXT_TABLE } from './kept-texts.ts'
import { PASSING_TABLE } from './passing-texts.ts'
import { SCHEMA, SCHEMA_VERSION } from './schema.ts'

/** How long a task waits for another process, in milliseconds; a page waits for two of them. */
const BUSY_MS = 500

/** SQLite's codes for a file that is damaged or none of its own. */
const [CORRUPT, NOT_A_DATABASE] = [11, 26]
/** SQLite's primary codes if another process holds the file, and if its folder is away. */
const [BUSY, CANNOT_OPEN] = [5, 14]

/**
 * Opens the ledger of a data folder; several processes may have it open. A file that is damaged, or
 * of another version, is moved aside, because figures of some days matter less than a service that
 * has some.
 */
export function openLedgerFile(folder: string): DatabaseSync {
  const path = join(folder, LEDGER_FILE)
  try {
    return openAt(path)
  } catch (error) {
    if (!isUnusable(error)) throw error
    for (const end of ['-wal', '-shm', '']) moveAside(`${path}${end}`, `${path}.damaged${end}`)
    return openAt(path)
  }
}

function openAt(path: string): DatabaseSync {
  const database = new DatabaseSync(path)
  try {
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
    database.exec('PRAGMA auto_vacuum = INCREMENTAL')
    database.exec('PRAGMA journal_mode = WAL')
    database.exec('PRAGMA synchronous = NORMAL')
    chmodSync(path, 0o600)
    migrate(database)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Why the ledger cannot be used for now; `null` if the error is another one. */
export function whyAway(error: unknown): string | null {
  const code = ((error as { readonly errcode?: number }).errcode ?? 0) & 0xff
  if (code === BUSY) return 'another process holds the ledger'
  return code === CANNOT_OPEN ? 'the ledger cannot be opened' : null
}

/** Names the file that is there now; `null`: none is. */
export function fileIdentity(folder: string): string | null {
  const found = statSync(join(folder, LEDGER_FILE), { throwIfNoEntry: false })
  return found === undefined ? null : `${found.dev}:${found.ino}`
}

class OtherVersionError extends Error {}

function migrate(database: DatabaseSync): void {
  if (versionOf(database) === SCHEMA_VERSION && hasAll(database)) return
  database.exec('BEGIN IMMEDIATE')
  try {
    // Another process may have made the tables meanwhile.
    const version = versionOf(database)
    if (version === 0) database.exec(`${SCHEMA} PRAGMA user_version = ${SCHEMA_VERSION}`)
    else if (version !== SCHEMA_VERSION) throw new OtherVersionError(`version ${version}`)
    database.exec(DAY_TABLE)
    database.exec(PASSING_TABLE)
    database.exec(TEXT_TABLE)
    if (!hasNames(database)) database.exec(CONVERSATION_NAMES)
    database.exec('COMMIT')
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

/** Ledgers of earlier versions lack sums of days, texts that pass, or kept ones. */
function hasAll(database: DatabaseSync): boolean {
  const sql = `SELECT count(*) AS tables FROM sqlite_master
    WHERE name IN ('ledger_name', 'passing', 'text_of_result')`
  return database.prepare(sql).get()?.['tables'] === 3 && hasNames(database)
}

/** Where conversations come from, which ledgers of earlier versions do not say. */
const CONVERSATION_NAMES = `
  ALTER TABLE conversation ADD COLUMN project TEXT NOT NULL DEFAULT '';
  ALTER TABLE conversation ADD COLUMN agent TEXT NOT NULL DEFAULT '';
`

function hasNames(database: DatabaseSync): boolean {
  const sql = "SELECT 1 FROM pragma_table_info('conversation') WHERE name = 'agent'"
  return database.prepare(sql).get() !== undefined
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
}

function isUnusable(error: unknown): boolean {
  if (error instanceof OtherVersionError) return true
  const { errcode } = error as { readonly errcode?: number }
  return errcode === CORRUPT || errcode === NOT_A_DATABASE
}

function moveAside(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
