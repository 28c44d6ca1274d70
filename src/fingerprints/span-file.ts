import { z } from 'zod'
import { AppError } from '../core/base/errors.ts'
import { validate } from '../core/contract/validate.ts'
import { type Fingerprint, fingerprintSchema } from '../core/fingerprints/fingerprint.ts'
import { replacePrivateFile } from '../files/replace-file.ts'
import { readBytes } from './folder-files.ts'
import { fingerprintsToParquet, readParquet } from './parquet-file.ts'

/** Rows that a file may have: an installation has a few hundred endpoints, of five spans each. */
export const MAX_ROWS = 50_000

const rowsSchema = z.array(fingerprintSchema)

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
  return validate(rowsSchema, await readParquet(bytes))
}

/** A shared span must not be forgotten, so the file is there after a power cut too. */
export function writeFingerprintFile(file: string, rows: readonly Fingerprint[]): void {
  replacePrivateFile(file, fingerprintsToParquet(rows), true)
}
