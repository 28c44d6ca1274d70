import { fileURLToPath } from 'node:url'
import {
  type PipelineConfig,
  pipelineSchema,
} from '../../src/core/pipeline/profile/pipeline-config.ts'

/** A configuration by which results of tests, which are small, may lack parts. */
export const ANY_SAVING_FILE = fileURLToPath(new URL('any-saving.toml', import.meta.url))

/** The same, by which proxies elide new results too. */
export const ELIDING_PROXIES_FILE = fileURLToPath(new URL('eliding-proxies.toml', import.meta.url))

/** The same, with other keys. */
export function anySaving(config: object = {}): PipelineConfig {
  const { elision, endpoint_overrides: named } = config as Readonly<Record<string, object>>
  return pipelineSchema.parse({
    ...config,
    elision: { in_proxies: true, ...elision },
    endpoint_overrides: { '*': { elision_min_saved_tokens: 0 }, ...named },
  })
}
