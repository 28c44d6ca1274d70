import { loadTelemetryKey } from '../../book/events/key-file.ts'
import type { Config } from '../../config/config.ts'
import type { Logger } from '../../observability/logger.ts'
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
  if (config.telemetry.sample_rate === 0) return null
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
