import { join } from 'node:path'
import { readTelemetryKey } from '../../book/events/key-file.ts'
import { blendAll } from '../../core/fingerprints/blend.ts'
import { type Fingerprint, LIMITS } from '../../core/fingerprints/fingerprint.ts'
import { tenantFolder } from '../../core/telemetry/pseudonyms.ts'
import { ENDPOINTS_FILE, fingerprintsFolder } from '../../fingerprints/folder-files.ts'
import { readPulled } from '../../fingerprints/pulled.ts'
import { readFingerprintFile } from '../../fingerprints/span-file.ts'
import type { Priors } from '../rules/prior-rules.ts'

export interface PriorsPlace {
  readonly dataDir: string
  readonly tenant: string
  /** Providers that are configured; others' files are not read. */
  readonly providers: readonly string[]
  /** Unix milliseconds. */
  readonly now: number
}

/**
 * What a tenant's own telemetry, its team and its providers know of endpoint classes, blended.
 * Figures of the last 30 days count.
 * @throws AppError `invalid_request` for a file that holds something else
 */
export async function readPriors({
  dataDir,
  tenant,
  providers,
  now,
}: PriorsPlace): Promise<Priors> {
  const key = readTelemetryKey(dataDir)
  if (key === null) return new Map()
  const folder = join(fingerprintsFolder(dataDir), tenantFolder(key, tenant))
  const isFresh = ({ last_seen_ms }: Fingerprint) => now - last_seen_ms < LIMITS.keptMs
  const freshOf = <Row extends Fingerprint>(rows: ReadonlyMap<string, Row>) =>
    new Map([...rows].filter(([, row]) => isFresh(row)))
  const own = (await readFingerprintFile(join(folder, ENDPOINTS_FILE))) ?? []
  const pulled = await readPulled(folder, providers, now)
  const blended = blendAll({
    own: freshOf(new Map(own.map(each => [each.endpoint_class, each]))),
    team: freshOf(pulled.team),
    providers: freshOf(pulled.providers),
  })
  return new Map([...blended].map(([name, { fingerprint }]) => [name, fingerprint]))
}
