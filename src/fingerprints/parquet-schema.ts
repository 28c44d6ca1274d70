import type { SchemaElement } from 'hyparquet'
import { HISTOGRAM_NAMES, RATES } from '../core/fingerprints/histograms.ts'

const MAP_PARTS = ['key_value', 'key', 'value']
const LIST_PARTS = ['list', 'element']

/**
 * The columns of a file of fingerprints, in their order: the fields of SOURCES.md#formats, a map
 * for the shapes and a list for the formats; then histograms as lists, and rates.
 */
export const PARQUET_SCHEMA: SchemaElement[] = [
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
export const STALE_COLUMN: SchemaElement = {
  name: 'stale',
  type: 'BOOLEAN',
  repetition_type: 'REQUIRED',
}

/** Names of the columns, without those of their parts. */
export const COLUMN_NAMES: readonly string[] = PARQUET_SCHEMA.slice(1)
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
