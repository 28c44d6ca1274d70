import { randomUUID } from 'node:crypto'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from './make-folder.ts'

/**
 * Replaces a file as a whole, for its owner alone.
 * @param flush whether it must be there after a power cut
 * @throws what the file system throws
 */
export function replacePrivateFile(file: string, text: string, flush = false): void {
  makeFolder(dirname(file))
  const draft = `${file}.${randomUUID()}`
  try {
    writeFileSync(draft, text, { mode: 0o600, flush })
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}
