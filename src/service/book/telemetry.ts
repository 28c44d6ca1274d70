import { existsSync } from 'node:fs'
import { loadTelemetryKey } from '../../book/events/key-file.ts'
import { telemetryFolder } from '../../book/events/layout.ts'
import { createTelemetry, type Telemetry } from '../../book/events/telemetry.ts'
import type { Config } from '../../config/config.ts'
import { createSteadyClock } from '../../core/base/steady-clock.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Metrics } from '../../observability/metrics.ts'
import { joinTelemetryKey, KeyUnknown } from '../replicas/telemetry-key.ts'
import { openConfiguredStore } from '../store.ts'

/**
 * The key of the hashes in telemetry. Replicas that share a store have the same one.
 * @returns `null` if telemetry is off, or if no replica's key is known yet
 * @throws SecretFileError
 */
export async function telemetryKeyFor(
  config: Config,
  { logger }: { readonly logger: Pick<Logger, 'warn'> },
): Promise<Uint8Array | null> {
  if (!config.telemetry.enabled) return null
  if (config.store.redis === undefined) return loadTelemetryKey(config.data_dir)
  // The key is asked for before the store that reports to metrics is open.
  const store = await openConfiguredStore(config, () => {})
  try {
    return await joinTelemetryKey(config.data_dir, store)
  } catch (error) {
    if (!(error instanceof KeyUnknown)) throw error
    logger.warn({ detail: error.message }, 'the key of telemetry is not known, so it is off')
    return null
  } finally {
    await store.close()
  }
}

const FIXED = {
  /** From this size on a session continues in another file. */
  rotate_bytes: 8 * 1024 * 1024,
  /** The size of all files together; the oldest go first. */
  max_bytes: 1024 * 1024 * 1024,
  summary_ttl_ms: 90 * 86_400_000,
  /** A session ends when nothing came for so long. */
  idle_ms: 1_800_000,
} as const

/** The telemetry that a configuration asks for; `null` if it is off and never was on. */
export function openConfiguredTelemetry(
  { telemetry, data_dir }: Config,
  key: Uint8Array | null,
  { metrics, logger }: { metrics: Pick<Metrics, 'telemetry'>; logger: Pick<Logger, 'warn'> },
): Telemetry | null {
  const folder = telemetryFolder(data_dir)
  // If telemetry is off, the files that it wrote before are still deleted in time.
  if (key === null && !existsSync(folder)) return null
  return createTelemetry({
    folder,
    key,
    settings: { ...FIXED, ...telemetry },
    now: Date.now,
    steadyNow: createSteadyClock({ wall: Date.now, stopwatch: () => performance.now() }),
    random: Math.random,
    onEvents: metrics.telemetry,
    onProblem: err => logger.warn({ err }, 'telemetry cannot be written'),
  })
}
