import { type DecodedArray, parquetMetadata, parquetReadObjects, toJson } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { AppError } from '../core/base/errors.ts'
import type { Fingerprint, MergedFingerprint } from '../core/fingerprints/fingerprint.ts'
import { COLUMN_NAMES, LATER_COLUMNS, PARQUET_SCHEMA, STALE_COLUMN } from './parquet-schema.ts'

/**
 * The rows of a Parquet file of the user's own data folder, as objects. It is not for files of
 * others: what a file announces is believed. Unknown columns are left out.
 * @throws AppError `invalid_request` if it is no Parquet file, or lacks columns
 */
export async function readParquet(bytes: Uint8Array): Promise<unknown[]> {
  // The reader takes a whole buffer, and these bytes may be a part of one.
  const own = new Uint8Array(bytes)
  try {
    const metadata = parquetMetadata(own.buffer, { geoparquet: false })
    const there = new Set(metadata.schema.map(({ name }) => name))
    const columns = COLUMN_NAMES.filter(name => there.has(name) || !LATER_COLUMNS.has(name))
    const rows = await parquetReadObjects({ file: own.buffer, metadata, columns })
    // Whole numbers are big ones in Parquet.
    return rows.map(toJson)
  } catch (error) {
    throw new AppError('invalid_request', 'the Parquet file cannot be read', {}, error)
  }
}

const WHOLE = new Set(['call_count', 'first_seen_ms', 'last_seen_ms', 'source_sessions'])

/** Fingerprints as a Parquet file (Snappy), one row each; the same rows make the same bytes. */
export function fingerprintsToParquet(rows: readonly Fingerprint[]): Uint8Array {
  return write(rows, false)
}

/** The same for what members of a team get. */
export function mergedToParquet(rows: readonly MergedFingerprint[]): Uint8Array {
  return write(rows, true)
}

function write(rows: readonly (Fingerprint | MergedFingerprint)[], isMerged: boolean): Uint8Array {
  const [root, ...columns] = PARQUET_SCHEMA as [
    (typeof PARQUET_SCHEMA)[number],
    ...typeof PARQUET_SCHEMA,
  ]
  const names = isMerged ? [...COLUMN_NAMES, STALE_COLUMN.name] : COLUMN_NAMES
  const schema = [
    { ...root, num_children: names.length },
    ...columns,
    ...(isMerged ? [STALE_COLUMN] : []),
  ]
  const columnData = names.map(name => ({ name, data: cells(rows, name) }))
  return new Uint8Array(parquetWriteBuffer({ schema, columnData, createdBy: 'haversack' }))
}

function cells(rows: readonly object[], name: string): DecodedArray {
  const values = rows.map(row => (row as Record<string, unknown>)[name])
  return WHOLE.has(name) ? values.map(value => BigInt(value as number)) : values
}
