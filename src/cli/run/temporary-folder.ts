import { hash } from 'node:crypto'
import { lstatSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'

const PREFIX = 'haversack-run'

/** A folder for one process: `haversack-run-PLACE-PID-RANDOM`. */
const NAME = /^haversack-run-([0-9a-f]{8})-(\d+)-\w+$/

/**
 * Makes a folder that only this user can enter (mode 0700), and removes those of processes that
 * were killed before they could do it themselves. @throws Error if none can be made
 */
export function makeTemporaryFolder(parent = tmpdir()): string {
  for (const { path, pid } of foldersIn(parent)) if (!isRunning(pid)) removeOwn(path)
  return mkdtempSync(join(parent, `${PREFIX}-${pidPlace()}-${process.pid}-`))
}

/** The process ids of each `run` of this user that is running. */
export function runningRuns(): readonly number[] {
  return foldersIn(tmpdir())
    .filter(({ path, pid }) => {
      const found = lstatSync(path, { throwIfNoEntry: false })
      return found !== undefined && isOwn(found.uid) && isRunning(pid)
    })
    .map(({ pid }) => pid)
}

/** The folders that were made among the same process ids as ours. */
function foldersIn(parent: string): readonly { readonly path: string; readonly pid: number }[] {
  const place = pidPlace()
  return readdirSync(parent).flatMap(name => {
    const [, madeIn, pid] = NAME.exec(name) ?? []
    return madeIn === place ? [{ path: join(parent, name), pid: Number(pid) }] : []
  })
}

/**
 * Identifies the namespace of process ids, because containers that share a folder may use the same
 * ids for other processes.
 */
function pidPlace(): string {
  return hash('sha256', `${hostname()} ${pidNamespace()}`).slice(0, 8)
}

function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return '' // not Linux: there is one
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: another user's by now.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** On Windows, folders for temporary files are a user's own, and owners have no numbers. */
function isOwn(uid: number): boolean {
  return process.getuid === undefined || process.getuid() === uid
}

/** A folder of another user with such a name stays. */
function removeOwn(path: string): void {
  try {
    const found = lstatSync(path)
    if (found.isDirectory() && isOwn(found.uid)) {
      rmSync(path, { recursive: true, force: true })
    }
  } catch {
    // Another process was faster, or it cannot be removed: the next one tries again.
  }
}
