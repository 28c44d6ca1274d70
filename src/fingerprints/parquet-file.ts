import { type DecodedArray, parquetMetadata, parquetReadObjects, toJson } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { AppError } from '../core/base/errors.ts'
import type { Fingerprint, MergedFingerprint } from '../core/fingerprints/fingerprint.ts'
import { guardFooter, guardParquet } from './guard-parquet.ts'
import { UnsafeError } from './guard-thrift.ts'
import { COLUMN_NAMES, LATER_COLUMNS, PARQUET_SCHEMA, STALE_COLUMN } from './parquet-schema.ts'

/**
 * The rows of a Parquet file as objects. Only the names of the columns are checked; unknown columns
 * are left out. Everything that the file announces is checked before anything is unpacked.
 * @param maxRows of the file
 * @throws AppError `invalid_request` if it is no Parquet file, lacks columns, or announces too much
 */
export async function readParquet(bytes: Uint8Array, maxRows: number): Promise<unknown[]> {
  // The reader takes a whole buffer, and these bytes may be a part of one.
  const own = new Uint8Array(bytes)
  try {
    guardFooter(own)
    const metadata = parquetMetadata(own.buffer, { geoparquet: false })
    guardParquet(own, metadata, maxRows)
    const there = new Set(metadata.schema.map(({ name }) => name))
    const columns = COLUMN_NAMES.filter(name => there.has(name) || !LATER_COLUMNS.has(name))
    const rows = await parquetReadObjects({ file: own.buffer, metadata, columns })
    // Whole numbers are big ones in Parquet.
    return rows.map(toJson)
  } catch (error) {
    const what = error instanceof UnsafeError ? error.message : 'cannot be read'
    throw new AppError('invalid_request', `the Parquet file ${what}`, {}, error)
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
