import { randomBytes } from 'node:crypto'
import { readTelemetryKey, replaceTelemetryKey } from '../../book/events/key-file.ts'
import { TELEMETRY_KEY_BYTES } from '../../core/telemetry/pseudonyms.ts'
import type { Failure, Store } from '../../store/store.ts'
import { SERVICE_TENANT } from './notices.ts'

const KEY = { tenant: SERVICE_TENANT, namespace: 'telemetry', key: 'key' } as const

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
  const written = await store.writeRecord({ ...KEY, value: offered, ifVersion: 0 })
  if (!written.ok && written.reason !== 'conflict') return written
  const read = await store.readRecord(KEY)
  return read.ok ? read.value : read
}
