import { randomBytes } from 'node:crypto'
import {
  loadTelemetryKey,
  readTelemetryKey,
  replaceTelemetryKey,
} from '../../book/events/key-file.ts'
import type { Config } from '../../config/config.ts'
import { TELEMETRY_KEY_BYTES } from '../../core/telemetry/pseudonyms.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Failure, Store } from '../../store/store.ts'
import { SERVICE_TENANT } from '../replicas/notices.ts'
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

const KEY_RECORD = { tenant: SERVICE_TENANT, namespace: 'telemetry', key: 'key' } as const

/** No replica's key can be read, and this one has none. */
export class KeyUnknown extends Error {}

/**
 * The key of telemetry that all replicas have. The first one claims its own, or a new one; the
 * others take that one into their data folder. If the store does not answer, it is the key of the
 * data folder.
 * @throws KeyUnknown if there is none either; SecretFileError
 */
export async function joinTelemetryKey(
  dataDir: string,
  store: Pick<Store, 'readRecord' | 'writeRecord'>,
): Promise<Uint8Array> {
  const own = readTelemetryKey(dataDir)
  const shared = await claim(store, own ?? randomBytes(TELEMETRY_KEY_BYTES))
  if ('ok' in shared || shared.byteLength !== TELEMETRY_KEY_BYTES) {
    if (own !== null) return own
    throw new KeyUnknown('ok' in shared ? shared.detail : 'the shared key is damaged')
  }
  if (own === null || !Buffer.from(own).equals(shared)) replaceTelemetryKey(dataDir, shared)
  return shared
}

async function claim(
  store: Pick<Store, 'readRecord' | 'writeRecord'>,
  offered: Uint8Array,
): Promise<Uint8Array | Failure> {
  const written = await store.writeRecord({ ...KEY_RECORD, value: offered, ifVersion: 0 })
  if (!written.ok && written.reason !== 'conflict') return written
  const read = await store.readRecord(KEY_RECORD)
  return read.ok ? read.value : read
}
