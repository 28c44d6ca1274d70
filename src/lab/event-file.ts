import { closeSync, fsyncSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs'
import { fileWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer'
import type { TelemetryEvent } from '../core/telemetry/event.ts'
import type { Mined } from './mine-log.ts'

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

/** A Parquet file of events, a row each, which appears under its name when it is finished. */
export class EventFile {
  readonly #path: string
  readonly #draft: string
  readonly #writer: ParquetWriter
  #rows: Mined[] = []

  /**
   * @param path a Parquet file that was there is replaced
   * @throws Error if it cannot be written, or something else is there
   */
  constructor(path: string) {
    if (!mayReplace(path)) throw new Error(`${path} is there, and no Parquet file`)
    this.#path = path
    this.#draft = `${path}.${process.pid}.tmp`
    const root: SchemaElement = { name: 'events', num_children: COLUMNS.length }
    this.#writer = new ParquetWriter({
      writer: fileWriter(this.#draft),
      schema: [root, ...COLUMNS.flatMap(({ schema }) => schema)],
      createdBy: 'haversack',
    })
  }

  add(mined: Mined): void {
    this.#rows.push(mined)
    if (this.#rows.length === ROW_GROUP) this.#flush()
  }

  #flush(): void {
    if (this.#rows.length === 0) return
    const columnData = COLUMNS.map(({ name, of }) => ({ name, data: this.#rows.map(of) }))
    // Files are written synchronously, so there is nothing to wait for.
    void this.#writer.write({ columnData, rowGroupSize: ROW_GROUP })
    this.#rows = []
  }

  /** Makes the file visible under its name. @throws Error of the file system */
  finish(): void {
    this.#flush()
    void this.#writer.finish()
    // Its content is on the disk before its name is, even if the machine loses power.
    const file = openSync(this.#draft, 'r+')
    try {
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(this.#draft, this.#path)
  }

  /** Removes what was written. */
  discard(): void {
    rmSync(this.#draft, { force: true })
  }
}

/** What Parquet files begin with. */
const MAGIC = 'PAR1'

/** Only a Parquet file, so that a mistyped name, for example of a log, loses nothing. */
function mayReplace(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return true
  if (!stats.isFile()) return false
  if (stats.size === 0) return true
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(MAGIC.length)
    readSync(file, bytes)
    return bytes.toString('latin1') === MAGIC
  } finally {
    closeSync(file)
  }
}
