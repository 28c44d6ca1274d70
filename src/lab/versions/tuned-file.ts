import { parse, stringify } from 'smol-toml'
import { NEWEST_SCHEMA } from '../../core/pipeline/profile/default-pipeline.ts'
import {
  isTable,
  type KeyPath,
  type Tree,
  valueAt,
  writeKey,
} from '../../core/pipeline/profile/key-path.ts'
import { pipelineSchema } from '../../core/pipeline/profile/pipeline-config.ts'
import { tunedTable } from '../../core/pipeline/profile/tuned-table.ts'
import { readKey } from './key-path.ts'

/** Why a key of the tuned file has its value. */
export interface TunedReason {
  readonly key: KeyPath
  readonly rule: string
  /** The figures that it was decided by, in words. */
  readonly evidence: string
  /** ISO date. */
  readonly date: string
}

/** A tuned file: a pipeline configuration of which each key has its reason. */
export interface TunedFile {
  /** The id of the version that wrote it. */
  readonly id: string
  readonly tenant: string
  /** ISO time. */
  readonly createdAt: string
  /** The generation of the configuration that the changes were measured with. */
  readonly generation: string
  readonly config: Tree
  readonly reasons: readonly TunedReason[]
}

/** A tuned file that cannot be used, or changes that cannot be written. */
export class TunedFault extends Error {}

const HEAD = '# Written by `haversack tune`. Keys of your own belong in pipeline_config.toml.\n'

/** The text of a tuned file. @throws TunedFault if its keys are no valid configuration */
export function writeTuned(file: TunedFile): string {
  const { id, tenant, createdAt, generation, config, reasons } = file
  checkConfig(config)
  const changes = reasons.map(({ key, rule, evidence, date }) => {
    return { key: writeKey(key), rule, evidence, date }
  })
  const tuned = { id, tenant, created_at: createdAt, generation, changes }
  checkTable(tuned)
  return `${HEAD}${stringify({ schema_version: NEWEST_SCHEMA, ...config, tuned })}\n`
}

/** @throws TunedFault */
export function readTuned(text: string): TunedFile {
  const { tuned, schema_version: _, ...config } = parsed(text)
  const { id, tenant = '', created_at, generation, changes } = checkTable(tuned)
  checkConfig(config)
  const reasons = changes.map(({ key, ...reason }) => {
    const path = readKey(key)
    if (path === null || valueAt(config, path) === undefined) {
      throw new TunedFault(`tuned.changes: ${key} is no key of the file`)
    }
    return { key: path, ...reason }
  })
  return { id, tenant, createdAt: created_at, generation, config, reasons }
}

function parsed(text: string): Tree {
  try {
    const value: unknown = parse(text)
    return isTable(value) ? value : {}
  } catch {
    // The message of a parser quotes the file.
    throw new TunedFault('it is no TOML')
  }
}

/** @throws TunedFault */
function checkTable(tuned: unknown) {
  const read = tunedTable.safeParse(tuned)
  if (!read.success) throw new TunedFault('its table [tuned] is not as tune writes it')
  return read.data
}

/** @throws TunedFault */
function checkConfig(config: Tree): void {
  const read = pipelineSchema.safeParse(config)
  if (read.success) return
  const [{ path, message } = { path: [], message: 'unknown' }] = read.error.issues
  throw new TunedFault(`${writeKey(path)}: ${message}`)
}
