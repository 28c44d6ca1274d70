import { join } from 'node:path'
import {
  byNameAndTime,
  type Collector,
  createCollector,
  keptSpans,
  mostOf,
} from '../../core/fingerprints/collect.ts'
import { DAY_MS, type Fingerprint, WINDOW_DAYS } from '../../core/fingerprints/fingerprint.ts'
import { telemetryFolder } from '../../telemetry/layout.ts'
import { noTally, type ReadTally } from '../../telemetry/read-lines.ts'
import { readEvents, tenantsOf } from '../../telemetry/read-telemetry.ts'
import { ENDPOINTS_FILE, fingerprintsFolder, SPANS_FILE } from '../folder-files.ts'
import { shareable } from '../shareable.ts'
import { MAX_ROWS, readFingerprintFile, writeFingerprintFile } from '../span-file.ts'
import { withBuildLock } from './build-lock.ts'

/** The fingerprints that were built for one tenant. */
export interface Built {
  /** Names its folder. */
  readonly tenant: string
  readonly endpoints: number
  readonly spans: number
  readonly read: ReadTally
}

/**
 * Builds the fingerprints of every tenant that has telemetry, from the events of the window:
 * `endpoints.parquet` again, and `spans.parquet` with the spans that can be closed now.
 * @param now Unix milliseconds
 * @throws AppError `invalid_request` if a file of spans cannot be read. Without it, it is unknown
 *   what has been shared. So the file must be repaired, or removed together with what was shared.
 *   Other tenants' fingerprints are built all the same. Error if another build is under way
 */
export async function buildFingerprints(dataDir: string, now: number): Promise<Built[]> {
  const built: Built[] = []
  const errors: unknown[] = []
  for (const tenant of await tenantsOf(telemetryFolder(dataDir))) {
    const folder = join(fingerprintsFolder(dataDir), tenant)
    try {
      built.push(await withBuildLock(folder, () => buildTenant(dataDir, tenant, now)))
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0)
    throw errors.length === 1 ? errors[0] : new AggregateError(errors, errors.join('; '))
  return built
}

async function buildTenant(dataDir: string, tenant: string, now: number): Promise<Built> {
  const folder = join(fingerprintsFolder(dataDir), tenant)
  const spansFile = join(folder, SPANS_FILE)
  const closed = keptSpans((await readFingerprintFile(spansFile)) ?? [], now, MAX_ROWS)
  const collector = createCollector(closed, now)
  const read = noTally()
  const sinceMs = now - WINDOW_DAYS * DAY_MS
  for await (const events of readEvents(telemetryFolder(dataDir), { tenant, sinceMs }, read)) {
    for (const event of events) if (event.ts_ms <= now) collector.add(event)
  }
  const { spans, endpoints } = rowsOf(collector, closed)
  await writeFingerprintFile(spansFile, spans)
  await writeFingerprintFile(join(folder, ENDPOINTS_FILE), endpoints)
  return { tenant, endpoints: endpoints.length, spans: shareable(spans, now).length, read }
}

/**
 * The rows of both files.
 * @param closed the spans that the collector was made with
 */
export function rowsOf(
  collector: Pick<Collector, 'closable' | 'endpoints'>,
  closed: readonly Fingerprint[],
): { readonly spans: readonly Fingerprint[]; readonly endpoints: readonly Fingerprint[] } {
  const room = MAX_ROWS - closed.length
  const fresh = mostOf(collector.closable(), room, each => each.source_sessions)
  const endpoints = mostOf(collector.endpoints(), MAX_ROWS, each => each.call_count)
  return {
    spans: [...closed, ...fresh].sort(byNameAndTime),
    endpoints: endpoints.toSorted(byNameAndTime),
  }
}
