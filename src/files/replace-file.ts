import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from './make-folder.ts'

/**
 * Replaces a file as a whole, for its owner alone; a reader sees one or the other.
 * @param flush whether it must be there after a power cut, under its name
 * @throws what the file system throws
 */
export function replacePrivateFile(
  file: string,
  content: string | Uint8Array,
  flush = false,
): void {
  const folder = dirname(file)
  makeFolder(folder)
  const draft = `${file}.${randomUUID()}`
  try {
    writeFileSync(draft, content, { mode: 0o600, flush })
    renameSync(draft, file)
    if (flush) syncFolder(folder)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
