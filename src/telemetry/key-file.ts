import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TELEMETRY_KEY_BYTES } from '../core/telemetry/pseudonyms.ts'

/**
 * The key is beside the telemetry's folder, so that a person who gets the folder does not get the
 * key.
 */
const FILE = 'telemetry.key'

/** A key file that cannot be used. */
export class TelemetryKeyError extends Error {}

/**
 * The secret that the hashes of this installation are keyed with. If there is none yet, it is made,
 * readable to its owner only. If it is lost, new hashes differ from old ones, and the tenants of
 * existing files cannot be recognised.
 * @throws TelemetryKeyError if the file holds something else, or cannot be read or written
 */
export function loadTelemetryKey(dataDir: string): Uint8Array {
  const known = readTelemetryKey(dataDir)
  if (known !== null) return known
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = join(dataDir, FILE)
  const draft = `${file}.${randomBytes(4).toString('hex')}`
  writeFileSync(draft, randomBytes(TELEMETRY_KEY_BYTES), { mode: 0o600, flag: 'wx', flush: true })
  try {
    // Of two processes that start at once the first wins, and no reader sees half a key.
    linkSync(draft, file)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw new TelemetryKeyError(`${file}: cannot be written`)
  } finally {
    unlinkSync(draft)
  }
  const key = readTelemetryKey(dataDir)
  if (key === null) throw new TelemetryKeyError(`${file}: cannot be written`)
  return key
}

/** The secret; `null` if there is none. @throws TelemetryKeyError as `loadTelemetryKey` does */
export function readTelemetryKey(dataDir: string): Uint8Array | null {
  const file = join(dataDir, FILE)
  let key: Buffer
  try {
    key = readFileSync(file)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw new TelemetryKeyError(`${file}: cannot be read`)
  }
  if (key.length !== TELEMETRY_KEY_BYTES) {
    throw new TelemetryKeyError(`${file}: is not a key of ${TELEMETRY_KEY_BYTES} bytes`)
  }
  return key
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
