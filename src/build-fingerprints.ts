import { join } from 'node:path'
import { createCollector } from './core/fingerprints/collect.ts'
import { DAY_MS, type Fingerprint, WINDOW_DAYS } from './core/fingerprints/fingerprint.ts'
import { withBuildLock } from './fingerprints/build-lock.ts'
import {
  ENDPOINTS_FILE,
  fingerprintsFolder,
  readFingerprintFile,
  SPANS_FILE,
  writeFingerprintFile,
} from './fingerprints/span-file.ts'
import { telemetryFolder } from './telemetry/layout.ts'
import { noTally, type ReadTally } from './telemetry/read-lines.ts'
import { readEvents, tenantsOf } from './telemetry/read-telemetry.ts'

/** What was built of one tenant. */
export interface Built {
  /** Names its folder. */
  readonly tenant: string
  readonly endpoints: number
  readonly spans: number
  readonly read: ReadTally
}

/**
 * Builds the fingerprints of every tenant that has telemetry, from the events of the window: `endpoints.parquet` anew, and `spans.parquet`
 * with the spans that can be closed now.
 * @param now Unix milliseconds
 * @throws AppError `invalid_request` where a file of spans cannot be read: without it nobody knows what has been shared, so that it must
 * be looked at, or be removed together with what was shared of it; Error where another build is under way
 */
export async function buildFingerprints(dataDir: string, now: number): Promise<Built[]> {
  const built: Built[] = []
  for (const tenant of await tenantsOf(telemetryFolder(dataDir))) {
    const folder = join(fingerprintsFolder(dataDir), tenant)
    built.push(await withBuildLock(folder, () => buildTenant(dataDir, tenant, now)))
  }
  return built
}

async function buildTenant(dataDir: string, tenant: string, now: number): Promise<Built> {
  const folder = join(fingerprintsFolder(dataDir), tenant)
  const spansFile = join(folder, SPANS_FILE)
  const closed = (await readFingerprintFile(spansFile)) ?? []
  const collector = createCollector(closed.filter(span => isInWindow(span, now)))
  const read = noTally()
  const sinceMs = now - WINDOW_DAYS * DAY_MS
  for await (const events of readEvents(telemetryFolder(dataDir), { tenant, sinceMs }, read)) {
    for (const event of events) if (event.ts_ms <= now) collector.add(event)
  }
  const spans = collector.spans()
  const endpoints = collector.endpoints()
  await writeFingerprintFile(spansFile, spans)
  await writeFingerprintFile(join(folder, ENDPOINTS_FILE), endpoints)
  return { tenant, endpoints: endpoints.length, spans: spans.length, read }
}

/** What has left the window is shared no more, and no later span begins before it. */
function isInWindow({ last_seen_ms }: Fingerprint, now: number): boolean {
  return last_seen_ms >= now - WINDOW_DAYS * DAY_MS
}
