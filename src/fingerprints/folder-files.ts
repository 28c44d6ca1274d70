import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

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
