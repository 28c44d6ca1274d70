import { mkdir, open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

const FILE = 'build.lock'
/** A build takes minutes at most; a lock that is older was left by one that was killed. */
const STALE_MS = 900_000

/**
 * Runs `build` while no other process does in the same folder: of two that closed spans at once, each would overwrite what the other has
 * shared already.
 * @throws Error where another one is under way
 */
export async function withBuildLock<T>(folder: string, build: () => Promise<T>): Promise<T> {
  const file = join(folder, FILE)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if (!(await taken(file))) {
    await removeStale(file)
    if (!(await taken(file))) throw new Error(`another build is under way; ${file} says so`)
  }
  try {
    return await build()
  } finally {
    await rm(file, { force: true })
  }
}

/** Whether the lock is ours now. */
async function taken(file: string): Promise<boolean> {
  try {
    await (await open(file, 'wx', 0o600)).close()
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

async function removeStale(file: string): Promise<void> {
  try {
    const { mtimeMs } = await stat(file)
    if (Date.now() - mtimeMs > STALE_MS) await rm(file, { force: true })
  } catch (error) {
    // It ended just now.
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
}
