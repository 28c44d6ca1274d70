import { randomBytes } from 'node:crypto'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder } from '../files/make-folder.ts'

/**
 * Files below a tenant's folder: the whole window for the tenant itself, and the closed spans,
 * which are the only ones that are shared.
 */
export const ENDPOINTS_FILE = 'endpoints.parquet'
export const SPANS_FILE = 'spans.parquet'

export function fingerprintsFolder(dataDir: string): string {
  return join(dataDir, 'fingerprints')
}

/** The bytes of a file; `null` if there is none. */
export async function readBytes(file: string): Promise<Uint8Array | null> {
  try {
    return await readFile(file)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

/**
 * Puts a file in the place of another; a reader sees one or the other, also after a power
 * cut.
 */
export async function replaceFile(file: string, content: Uint8Array | string): Promise<void> {
  const folder = dirname(file)
  makeFolder(folder)
  const draft = `${file}.${randomBytes(4).toString('hex')}`
  try {
    const handle = await open(draft, 'wx', 0o600)
    try {
      await handle.writeFile(content)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, file)
    await syncFolder(folder)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** A shared span must not be forgotten, so the new name is made durable too. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
