import {
  type DecodedArray,
  parquetMetadata,
  parquetReadObjects,
  type SchemaElement,
  toJson,
} from 'hyparquet'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { AppError } from '../core/base/errors.ts'
import type { Fingerprint, MergedFingerprint } from '../core/fingerprints/fingerprint.ts'
import { HISTOGRAM_NAMES, RATES } from '../core/fingerprints/histograms.ts'

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

const MAP_PARTS = ['key_value', 'key', 'value']
const LIST_PARTS = ['list', 'element']

/**
 * The columns of a file of fingerprints, in their order: the fields of SOURCES.md#formats, a map
 * for the shapes and a list for the formats; then histograms as lists, and rates.
 */
const PARQUET_SCHEMA: SchemaElement[] = [
  { name: 'fingerprints', num_children: 20 },
  text('endpoint_class', 'REQUIRED'),
  whole('call_count'),
  double('avg_response_chars', 'REQUIRED'),
  text('shape_dominant', 'REQUIRED'),
  { name: 'shape_mix', repetition_type: 'REQUIRED', num_children: 1, converted_type: 'MAP' },
  { name: MAP_PARTS[0]!, repetition_type: 'REPEATED', num_children: 2 },
  text(MAP_PARTS[1]!, 'REQUIRED'),
  double(MAP_PARTS[2]!, 'REQUIRED'),
  double('dup_rate', 'REQUIRED'),
  double('format_entropy', 'REQUIRED'),
  {
    name: 'inner_formats_top3',
    repetition_type: 'REQUIRED',
    num_children: 1,
    converted_type: 'LIST',
  },
  { name: LIST_PARTS[0]!, repetition_type: 'REPEATED', num_children: 1 },
  text(LIST_PARTS[1]!, 'REQUIRED'),
  double('avg_cols', 'OPTIONAL'),
  double('avg_rows', 'OPTIONAL'),
  double('key_stability_mean', 'OPTIONAL'),
  whole('first_seen_ms'),
  whole('last_seen_ms'),
  whole('source_sessions'),
  ...HISTOGRAM_NAMES.flatMap(histogram),
  ...RATES.map(name => double(name, 'OPTIONAL')),
]

/** Columns that files of earlier versions do not have. */
export const LATER_COLUMNS: ReadonlySet<string> = new Set([...HISTOGRAM_NAMES, ...RATES])

/** Beside the fields, in what a team's members get. */
const STALE_COLUMN: SchemaElement = {
  name: 'stale',
  type: 'BOOLEAN',
  repetition_type: 'REQUIRED',
}

/** Names of the columns, without those of their parts. */
const COLUMN_NAMES: readonly string[] = PARQUET_SCHEMA.slice(1)
  .map(({ name }) => name)
  .filter(name => ![...MAP_PARTS, ...LIST_PARTS].includes(name))

type Repetition = NonNullable<SchemaElement['repetition_type']>

function text(name: string, repetition_type: Repetition): SchemaElement {
  return { name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type }
}

function double(name: string, repetition_type: Repetition): SchemaElement {
  return { name, type: 'DOUBLE', repetition_type }
}

/** Counts by bucket. */
function histogram(name: string): SchemaElement[] {
  return [
    { name, repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST' },
    { name: LIST_PARTS[0]!, repetition_type: 'REPEATED', num_children: 1 },
    { name: LIST_PARTS[1]!, type: 'INT32', repetition_type: 'REQUIRED' },
  ]
}

function whole(name: string): SchemaElement {
  return { name, type: 'INT64', repetition_type: 'REQUIRED' }
}
