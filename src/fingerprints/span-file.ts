import { randomBytes } from 'node:crypto'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { AppError } from '../core/base/errors.ts'
import { validate } from '../core/contract/validate.ts'
import { type Fingerprint, fingerprintSchema } from '../core/fingerprints/fingerprint.ts'
import { makeFolder } from '../files/make-folder.ts'
import { fingerprintsToParquet, readParquet } from './parquet-file.ts'

/**
 * Files below a tenant's folder: the whole window for the tenant itself, and the closed spans,
 * which are the only ones that are shared.
 */
export const ENDPOINTS_FILE = 'endpoints.parquet'
export const SPANS_FILE = 'spans.parquet'

/**
 * Rows of a file of our own, more of which are not read: an installation has a few hundred
 * endpoints, with five spans each.
 */
export const MAX_ROWS = 50_000

const rowsSchema = z.array(fingerprintSchema)

export function fingerprintsFolder(dataDir: string): string {
  return join(dataDir, 'fingerprints')
}

/**
 * The rows of a file of fingerprints; `null` if there is none.
 * @throws AppError `invalid_request` if it is there and holds something else
 */
export async function readFingerprintFile(file: string): Promise<Fingerprint[] | null> {
  const bytes = await readBytes(file)
  if (bytes === null) return null
  try {
    return await fingerprintsIn(bytes)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new AppError(error.code, `${file}: ${error.detail}`, {}, error)
  }
}

/** The rows of a Parquet file's bytes. @throws AppError `invalid_request` */
export async function fingerprintsIn(bytes: Uint8Array): Promise<Fingerprint[]> {
  return validate(rowsSchema, await readParquet(bytes, MAX_ROWS))
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

export async function writeFingerprintFile(
  file: string,
  rows: readonly Fingerprint[],
): Promise<void> {
  await replaceFile(file, fingerprintsToParquet(rows))
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
