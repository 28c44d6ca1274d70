import { hash, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../../files/make-folder.ts'

/** How a hook tells gateways in other processes that an agent has lost what it was sent. */
export interface Compactions {
  /** Differs from the one before once the context was compacted. Never throws. */
  stampOf(context: string): string
}

const FOLDER = 'mcp-contexts'
/** The file for all contexts. */
const ALL = 'all'
/** Contexts end after an hour without a call; a file that is gone ends its context once more. */
const KEPT_MS = 24 * 60 * 60 * 1000

/** @param dataDir which gateways and hooks share */
export function readCompactions(dataDir: string): Compactions {
  const folder = join(dataDir, FOLDER)
  return {
    stampOf: context => `${readStamp(folder, ALL)} ${readStamp(folder, fileOf(context))}`,
  }
}

/**
 * Ends a context in all gateways of the data folder: nothing older is referred to from their next
 * answer on.
 * @param context `null`: all of them
 * @throws what the file system throws
 */
export function noteCompaction(dataDir: string, context: string | null, now: number): void {
  const folder = join(dataDir, FOLDER)
  makeFolder(folder)
  removeOld(folder, now)
  const file = join(folder, context === null ? ALL : fileOf(context))
  const temporary = `${file}.${randomUUID()}`
  writeFileSync(temporary, randomUUID(), { mode: 0o600 })
  renameSync(temporary, file)
}

function readStamp(folder: string, file: string): string {
  try {
    return readFileSync(join(folder, file), 'latin1')
  } catch (error) {
    // One that cannot be read is like none, until it can.
    return (error as NodeJS.ErrnoException).code ?? 'failed'
  }
}

function fileOf(context: string): string {
  return hash('sha256', Buffer.from(context, 'utf16le'), 'hex').slice(0, 32)
}

function removeOld(folder: string, now: number): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    try {
      if (now - statSync(file).mtimeMs > KEPT_MS) rmSync(file, { force: true })
    } catch {
      // Another hook has removed it.
    }
  }
}
