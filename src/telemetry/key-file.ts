import { join } from 'node:path'
import { TELEMETRY_KEY_BYTES } from '../core/telemetry/pseudonyms.ts'
import { loadSecret, readSecret } from '../runtime/secret-file.ts'

/**
 * The key is beside the telemetry's folder, so that a person who gets the folder does not get the
 * key.
 */
const FILE = 'telemetry.key'

/**
 * The secret that the hashes of this installation are keyed with. If it is lost, new hashes differ
 * from old ones, and the tenants of existing files cannot be recognised.
 * @throws SecretFileError as `loadSecret` does
 */
export function loadTelemetryKey(dataDir: string): Uint8Array {
  return loadSecret(join(dataDir, FILE), TELEMETRY_KEY_BYTES)
}

/** The secret; `null` if there is none. @throws SecretFileError as `readSecret` does */
export function readTelemetryKey(dataDir: string): Uint8Array | null {
  return readSecret(join(dataDir, FILE), TELEMETRY_KEY_BYTES)
}
