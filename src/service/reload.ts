import { isDeepStrictEqual } from 'node:util'
import type { Config } from '../config/config.ts'
import type { FixedLimits } from '../config/fixed-limits.ts'
import type { HttpServer, ServerLimits } from '../http/server.ts'
import type { Logger } from '../observability/logger.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Configurations } from './configuration/configurations.ts'
import type { ServiceKeys } from './keys.ts'
import type { ServiceEndpoints } from './mcp/endpoints.ts'

/** The configuration in force. Settings that a reload may change are read from it at each use. */
export interface LiveConfig {
  config: Config
  readonly fixed: FixedLimits
}

/** Reads keys and configuration again. If that fails, the previous ones stay in force. */
export interface Reloading {
  readKeys(): void
  readConfig(load: () => Config): void
}

export interface ReloadingOptions {
  readonly live: LiveConfig
  /** How the pipeline chooses. */
  readonly configurations: Pick<Configurations, 'reload'>
  readonly keys: Pick<ServiceKeys, 'file'>
  readonly server: Pick<HttpServer, 'apply'>
  readonly mcp: Pick<ServiceEndpoints, 'read'>
  readonly logger: Pick<Logger, 'info' | 'error' | 'level'>
  readonly metrics: Pick<Metrics, 'reload'>
}

/** Neither of its functions throws: the log and the metrics say what failed. */
export function createReloading(options: ReloadingOptions): Reloading {
  const { live, configurations, keys, server, mcp, logger, metrics } = options

  function attempt(what: 'keys' | 'config', read: () => object): void {
    try {
      logger.info(read(), `${what} read again`)
      metrics.reload(what, true)
    } catch (error) {
      logger.error({ err: error }, `${what} not read; the ones before stay in force`)
      metrics.reload(what, false)
    }
  }

  return {
    readKeys() {
      const { file } = keys
      if (file !== null) attempt('keys', () => file.readAgain())
    },
    readConfig(load) {
      attempt('config', () => {
        const { config: next, waiting } = reloaded(live.config, load())
        // Clients keep connections to the servers that they began with.
        if (!isDeepStrictEqual(next.mcp, live.config.mcp)) mcp.read(next)
        live.config = next
        logger.level = next.log.level
        server.apply(serverLimits(live))
        return { needs_restart: waiting }
      })
      void configurations.reload()
    },
  }
}

/**
 * Settings that are built into what runs: the port, the threads and what they were given at their
 * start.
 */
export const AT_START: readonly (readonly [keyof Config, string?])[] = [
  ['host'],
  ['port'],
  ['keys_file'],
  ['data_dir'],
  ['watch'],
  ['pipeline_config_file'],
  ['store', 'max_bytes'],
  ['store', 'encryption_keys'],
  ['store', 'redis'],
  ['proxy'],
  ['telemetry'],
  ['ledger'],
  ['ui'],
  ['workers'],
  ['enrichment', 'max_parallel_prefetches'],
  ['enrichment', 'respect_rate_limits'],
  ['limits', 'max_body_bytes'],
]

export interface Reloaded {
  /** What is in force from now on. */
  readonly config: Config
  /** Dotted names of settings whose change waits for a restart. */
  readonly waiting: readonly string[]
}

/** Returns `current` with those settings of `next` that can change while the service runs. */
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

/** The limits of connections, by the configuration. */
export function serverLimits(live: LiveConfig): ServerLimits {
  const { limits } = live.config
  const { connections, headerMs, requestMs, idleMs } = live.fixed
  return {
    maxConnections: connections,
    headerTimeoutMs: headerMs,
    requestTimeoutMs: requestMs,
    idleTimeoutMs: idleMs,
    // This is longer than any job may wait and run.
    silenceTimeoutMs: queueTimeoutMs(live) + limits.job_timeout_ms,
  }
}

/**
 * The limit is longer than one job may run, so that waiting jobs outlive the replacement of stuck
 * threads.
 */
export function queueTimeoutMs({ config, fixed }: LiveConfig): number {
  return config.limits.job_timeout_ms + fixed.requestMs
}

/** Bytes that the bodies under way may have together. */
export function queueBytes({ config, fixed }: LiveConfig): number {
  return fixed.queueBytes(config.limits.max_body_bytes)
}
