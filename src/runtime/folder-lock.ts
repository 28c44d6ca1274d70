import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makeFolder } from '../files/make-folder.ts'

/** Another connection has the lock (sqlite.org/rescode.html). */
const BUSY = 5

/** A folder that another process or thread works in. */
export class FolderBusy extends Error {}

/** The right to work in a folder, until it is closed. */
export interface FolderLock {
  close(): void
}

/**
 * Locks a folder, which is made if there is none. The lock is SQLite's, on a file without content.
 * The system releases it when its holder ends in any way, so no lock remains.
 * @param name of the file
 * @param waitMs how long to wait for another holder
 * @throws FolderBusy if another one holds it
 */
export function lockFolder(folder: string, name: string, waitMs = 0): FolderLock {
  makeFolder(folder)
  const lock = new DatabaseSync(join(folder, name), { timeout: waitMs })
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock.close()
    const isBusy = error instanceof Error && 'errcode' in error && error.errcode === BUSY
    throw isBusy ? new FolderBusy(`${folder} is in use`, { cause: error }) : error
  }
  return lock
}
