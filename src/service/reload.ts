import type { Config } from '../config/config.ts'

/**
 * Settings that are built into what runs: the port, the threads and what they were given at their
 * start.
 */
const AT_START: readonly (readonly [keyof Config, string?])[] = [
  ['host'],
  ['port'],
  ['cache_dir'],
  ['keys_file'],
  ['data_dir'],
  ['pipeline_config_file'],
  ['store', 'max_bytes'],
  ['store', 'tenant_max_bytes'],
  ['store', 'compress'],
  ['store', 'encryption_keys'],
  ['sessions'],
  ['proxy'],
  ['telemetry'],
  ['workers'],
  ['traces'],
  ['limits', 'max_body_bytes'],
  ['limits', 'envelope_depth'],
  ['limits', 'envelope_values'],
  ['limits', 'content_depth'],
]

export interface Reloaded {
  /** What is in force from now on. */
  readonly config: Config
  /** Dotted names of settings whose change waits for a restart. */
  readonly waiting: readonly string[]
}

/** Lays the settings of `next` that can change while the service runs over `current`. */
export function reloaded(current: Config, next: Config): Reloaded {
  const config = structuredClone(next) as Record<string, unknown>
  const waiting: string[] = []
  for (const [section, key] of AT_START) {
    const from = settingOf(current, section, key)
    if (JSON.stringify(from) === JSON.stringify(settingOf(next, section, key))) continue
    waiting.push(key === undefined ? section : `${section}.${key}`)
    if (key === undefined) config[section] = from
    else (config[section] as Record<string, unknown>)[key] = from
  }
  return { config: config as Config, waiting }
}

function settingOf(config: Config, section: keyof Config, key: string | undefined): unknown {
  const value: unknown = config[section]
  return key === undefined ? value : (value as Record<string, unknown>)[key]
}
