import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { z } from 'zod'
import {
  DEFAULT_PIPELINE,
  LEFT_OUT,
  type PipelineConfig,
  pipelineSchema,
} from '../core/pipeline/profile/pipeline-config.ts'
import type { Config } from './config.ts'
import { ConfigError, readToml } from './read-toml.ts'
import { configuredViews } from './views.ts'

/** In the data folder, if no other file is named. */
const FILE_NAME = 'pipeline_config.toml'

/**
 * How the pipeline chooses: the file that `pipeline_config_file` names, or `pipeline_config.toml`
 * in the data folder. The built-in defaults if there is none in the data folder.
 * @throws ConfigError with every fault at once; also for a named file that cannot be read
 */
export function readPipelineConfig(config: PipelinePlace): PipelineConfig {
  const file = pipelineFileOf(config)
  if (config.pipeline_config_file === undefined && !existsSync(file)) {
    return withViews(DEFAULT_PIPELINE, '.')
  }
  const parsed = pipelineSchema.safeParse(readToml(file))
  if (parsed.success) return withViews(parsed.data, dirname(file))
  throw new ConfigError(parsed.error.issues.flatMap(faultsOf).map(fault => `${file}: ${fault}`))
}

/** Files of views are named from the folder of the file that names them. */
function withViews(pipeline: PipelineConfig, folder: string): PipelineConfig {
  const { views } = pipeline
  const files = views.files.map(file => resolve(folder, file))
  return { ...pipeline, knownViews: configuredViews({ ...views, files }) }
}

/** Whether a level of the configuration may leave out parts of results. */
export function leavesOutByLevel({ views }: PipelineConfig): boolean {
  const ofContext = views.pressure.map(({ level }) => level)
  const levels = [views.level, ...Object.values(views.levels), ...ofContext]
  return levels.some(level => level !== 'full')
}

type PipelinePlace = Pick<Config, 'data_dir' | 'pipeline_config_file'>

/** Where that file is, or would be. */
export function pipelineFileOf({ data_dir, pipeline_config_file }: PipelinePlace): string {
  return pipeline_config_file ?? join(data_dir, FILE_NAME)
}

/** One fault for each key. */
function faultsOf(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.map(String)
  const { keys } = issue as { keys?: readonly string[] }
  if (issue.code !== 'unrecognized_keys' || keys === undefined) {
    return [`${path.join('.') || '(top level)'}: ${issue.message}`]
  }
  return keys.map(key => `${[...path, key].join('.')}: ${reasonFor(key)}`)
}

function reasonFor(key: string): string {
  const reason = Object.hasOwn(LEFT_OUT, key) ? LEFT_OUT[key] : undefined
  return reason === undefined ? 'no such key' : `left out: ${reason}`
}
