import { closeSync, fsyncSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs'
import { fileWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer'
import type { TelemetryEvent } from '../core/telemetry/event.ts'
import type { Mined } from './mine-log.ts'

/** Events on their way into a Parquet file. */
export interface EventFile {
  add(mined: Mined): void
  /** Makes the file visible under its name. @throws Error of the file system */
  finish(): void
  /** Removes what was written. */
  discard(): void
}

/** Rows that are held in memory, and lie together in the file. */
const ROW_GROUP = 20_000

type Physical = 'STRING' | 'INT32' | 'INT64' | 'DOUBLE' | 'BOOLEAN'
type Cell = string | number | bigint | boolean | readonly string[] | undefined

interface Column {
  readonly name: string
  readonly schema: readonly SchemaElement[]
  of(mined: Mined): Cell
}

const TYPES: Readonly<Record<Physical, Pick<SchemaElement, 'type' | 'converted_type'>>> = {
  STRING: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  INT32: { type: 'INT32' },
  INT64: { type: 'INT64' },
  DOUBLE: { type: 'DOUBLE' },
  BOOLEAN: { type: 'BOOLEAN' },
}

/** A field of the event by its own name. */
function field(name: keyof TelemetryEvent, type: Physical, isOptional = false): Column {
  const repetition_type = isOptional ? 'OPTIONAL' : 'REQUIRED'
  return {
    name,
    schema: [{ name, repetition_type, ...TYPES[type] }],
    of: ({ event }) => {
      const value = event[name]
      return type === 'INT64' && typeof value === 'number' ? BigInt(value) : value
    },
  }
}

/** The list of three levels that the format's description asks for. */
const INNER_FORMATS: Column = {
  name: 'inner_formats',
  schema: [
    {
      name: 'inner_formats',
      repetition_type: 'REQUIRED',
      converted_type: 'LIST',
      num_children: 1,
    },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', repetition_type: 'REQUIRED', ...TYPES.STRING },
  ],
  of: ({ event }) => event.inner_formats,
}

const FORMAT: Column = {
  name: 'notation',
  schema: [{ name: 'notation', repetition_type: 'OPTIONAL', ...TYPES.STRING }],
  of: ({ notation }) => notation ?? undefined,
}

/**
 * The fields of `telemetryEvent` that a log holds, and the format. Figures stay below what a line
 * of a log can hold.
 */
const COLUMNS: readonly Column[] = [
  field('schema_version', 'INT32'),
  field('session_hash', 'STRING'),
  field('tool_call_id_hash', 'STRING', true),
  field('tool_name_anon', 'STRING'),
  field('endpoint_class', 'STRING'),
  field('response_chars', 'INT32'),
  field('shape', 'STRING'),
  INNER_FORMATS,
  field('content_sha_prefix', 'STRING'),
  field('file_path_hash', 'STRING', true),
  field('is_dedup_hit', 'BOOLEAN'),
  field('layer_used', 'STRING'),
  field('template_id', 'STRING', true),
  field('tokenizer', 'STRING'),
  field('tokens_baseline', 'INT32'),
  field('tokens_final', 'INT32'),
  field('dedup_tokens_saved', 'INT32'),
  field('encoder_tokens_saved', 'INT32'),
  field('elided_tokens_saved', 'INT32'),
  field('context_partition', 'INT32'),
  field('is_sidechain', 'BOOLEAN'),
  field('ts_ms', 'INT64'),
  field('sample_rate_applied', 'DOUBLE'),
  field('n_cols', 'INT32', true),
  field('n_rows', 'INT32', true),
  field('key_stability', 'DOUBLE', true),
  field('depth', 'INT32', true),
  field('repeat_burst', 'INT32', true),
  FORMAT,
]

/**
 * A Parquet file of events, a row each, which appears under `path` when it is finished; a Parquet
 * file that was there is replaced.
 * @throws Error if it cannot be written, or something else is there
 */
export function createEventFile(path: string): EventFile {
  if (!mayReplace(path)) throw new Error(`${path} is there, and no Parquet file`)
  const draft = `${path}.${process.pid}.tmp`
  const root: SchemaElement = { name: 'events', num_children: COLUMNS.length }
  const writer = new ParquetWriter({
    writer: fileWriter(draft),
    schema: [root, ...COLUMNS.flatMap(({ schema }) => schema)],
    createdBy: 'haversack',
  })
  let rows: Mined[] = []

  function flush(): void {
    if (rows.length === 0) return
    const columnData = COLUMNS.map(({ name, of }) => ({ name, data: rows.map(of) }))
    // Files are written synchronously, so there is nothing to wait for.
    void writer.write({ columnData, rowGroupSize: ROW_GROUP })
    rows = []
  }

  return {
    add(mined) {
      rows.push(mined)
      if (rows.length === ROW_GROUP) flush()
    },
    finish() {
      flush()
      void writer.finish()
      sync(draft)
      renameSync(draft, path)
    },
    discard() {
      rmSync(draft, { force: true })
    },
  }
}

/** What Parquet files begin with. */
const MAGIC = 'PAR1'

/**
 * Only a Parquet file may be replaced, so that a mistyped name, for example of a log, loses
 * nothing.
 */
function mayReplace(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined || (stats.isFile() && stats.size === 0)) return true
  return stats.isFile() && beginningOf(path) === MAGIC
}

function beginningOf(path: string): string {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(MAGIC.length)
    readSync(file, bytes)
    return bytes.toString('latin1')
  } finally {
    closeSync(file)
  }
}

/** Its content is on the disk before its name is, even if the machine loses power. */
function sync(path: string): void {
  const file = openSync(path, 'r+')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
