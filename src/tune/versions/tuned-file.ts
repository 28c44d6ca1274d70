import { parse, stringify } from 'smol-toml'
import { z } from 'zod'
import { DEFAULT_PIPELINE, pipelineSchema } from '../../core/pipeline/profile/pipeline-config.ts'
import { type ConfigTable, type KeyPath, readKey, valueAt, writeKey } from './key-path.ts'

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
  /** Of the version that wrote it. */
  readonly id: string
  /** ISO time. */
  readonly createdAt: string
  /** Of the configuration that the changes were measured with. */
  readonly generation: string
  readonly config: ConfigTable
  readonly reasons: readonly TunedReason[]
}

/** A tuned file that cannot be used, or changes that cannot be written. */
export class TunedFault extends Error {}

const VERSION_ID = /^[0-9a-f]{12}$/

const record = z.strictObject({
  id: z.string().regex(VERSION_ID),
  created_at: z.iso.datetime(),
  generation: z.string().max(64),
  changes: z
    .array(
      z.strictObject({
        key: z.string().max(2_048),
        rule: z.string().max(64),
        evidence: z.string().max(2_048),
        date: z.iso.date(),
      }),
    )
    .max(100_000)
    .default([]),
})

const HEAD = '# Written by `haversack tune`. Keys of your own belong in pipeline_config.toml.\n'

/** The text of a tuned file. @throws TunedFault if its keys are no valid configuration */
export function writeTuned({ id, createdAt, generation, config, reasons }: TunedFile): string {
  checkConfig(config)
  const changes = reasons.map(({ key, rule, evidence, date }) => {
    return { key: writeKey(key), rule, evidence, date }
  })
  const { schema_version } = DEFAULT_PIPELINE
  const tuned = { id, created_at: createdAt, generation, changes }
  return `${HEAD}${stringify({ schema_version, ...config, tuned })}\n`
}

/** @throws TunedFault */
export function readTuned(text: string): TunedFile {
  const { tuned, schema_version: _, ...config } = parsed(text)
  const head = record.safeParse(tuned)
  if (!head.success) throw new TunedFault('its section [tuned] is not as tune writes it')
  checkConfig(config)
  const { id, created_at, generation, changes } = head.data
  const reasons = changes.map(({ key, ...reason }) => {
    const path = readKey(key)
    if (path === null || valueAt(config, path) === undefined) {
      throw new TunedFault(`tuned.changes: ${key} is no key of the file`)
    }
    return { key: path, ...reason }
  })
  return { id, createdAt: created_at, generation, config, reasons }
}

function parsed(text: string): ConfigTable {
  try {
    return parse(text) as ConfigTable
  } catch {
    // The message of a parser quotes the file.
    throw new TunedFault('it is no TOML')
  }
}

/** @throws TunedFault */
function checkConfig(config: ConfigTable): void {
  const read = pipelineSchema.safeParse(config)
  if (read.success) return
  const [{ path, message } = { path: [], message: 'unknown' }] = read.error.issues
  throw new TunedFault(`${writeKey(path.map(String))}: ${message}`)
}
