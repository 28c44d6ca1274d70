import { join } from 'node:path'
import { TELEMETRY_KEY_BYTES } from '../../core/telemetry/pseudonyms.ts'
import { loadSecret, readSecret, replaceSecret } from '../../runtime/secret-file.ts'

/**
 * The key is beside the telemetry's folder, so that a person who gets the folder does not get the
 * key.
 */
const FILE = 'telemetry.key'
const BEFORE = 'telemetry.key.before'

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

/** Keys that a data folder had before it joined others, and the present one first. */
export function readTelemetryKeys(dataDir: string): readonly Uint8Array[] {
  const keys = [FILE, BEFORE].map(file => readSecret(join(dataDir, file), TELEMETRY_KEY_BYTES))
  return keys.filter(key => key !== null)
}

/**
 * Puts another installation's key in force. The one before is kept, because its tenants' folders
 * can only be found with it. @throws SecretFileError
 */
export function replaceTelemetryKey(dataDir: string, key: Uint8Array): void {
  replaceSecret(join(dataDir, FILE), key, join(dataDir, BEFORE))
}
