import type { DecodedArray } from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import type { Fingerprint, MergedFingerprint } from '../core/fingerprints/fingerprint.ts'
import { COLUMN_NAMES, PARQUET_SCHEMA, STALE_COLUMN } from './parquet-schema.ts'

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
