import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

const FILE = 'build.lock'
/** Another connection has the lock (sqlite.org/rescode.html). */
const BUSY = 5

/**
 * Runs `build`, while no other process or thread builds in the same folder. If two closed spans at
 * once, each would overwrite spans that the other has shared. The lock is SQLite's, on a file
 * without content. The system releases it when its holder ends in any way, so no lock remains.
 * @throws Error if another one is under way
 */
export async function withBuildLock<T>(folder: string, build: () => Promise<T>): Promise<T> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const lock = new DatabaseSync(join(folder, FILE), { timeout: 0 })
  try {
    take(lock, folder)
    return await build()
  } finally {
    lock.close()
  }
}

function take(lock: DatabaseSync, folder: string): void {
  try {
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    const isBusy = error instanceof Error && 'errcode' in error && error.errcode === BUSY
    throw isBusy ? new Error(`another build is under way in ${folder}`, { cause: error }) : error
  }
}
