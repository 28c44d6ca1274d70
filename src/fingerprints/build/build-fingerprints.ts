import { join } from 'node:path'
import { telemetryFolder } from '../../book/events/layout.ts'
import { noTally, type ReadTally } from '../../book/events/read-lines.ts'
import { readEvents, tenantsOf } from '../../book/events/read-telemetry.ts'
import {
  byNameAndTime,
  createCollector,
  keptSpans,
  mostOf,
} from '../../core/fingerprints/collect.ts'
import { createDays, type DayRow } from '../../core/fingerprints/day-rows.ts'
import {
  DAY_MS,
  dayOf,
  type Fingerprint,
  WINDOW_DAYS,
} from '../../core/fingerprints/fingerprint.ts'
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

/** The rows of both files of a tenant. */
export interface BuiltRows {
  readonly spans: readonly Fingerprint[]
  readonly endpoints: readonly Fingerprint[]
}

/** A tenant's part of a data folder, by the name of the tenant's folders. */
export interface TenantPart {
  readonly dataDir: string
  readonly tenant: string
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
    try {
      built.push(await buildTenant({ dataDir, tenant }, now))
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0)
    throw errors.length === 1 ? errors[0] : new AggregateError(errors, errors.join('; '))
  return built
}

function buildTenant(part: TenantPart, now: number): Promise<Built> {
  return withBuildLock(folderOf(part), async () => {
    const closed = await readSpans(part)
    const read = noTally()
    const rows = rowsOf(closed, await readDays(part, now, read), now)
    writeRows(part, rows)
    const spans = shareable(rows.spans, now).length
    return { tenant: part.tenant, endpoints: rows.endpoints.length, spans, read }
  })
}

/** What the telemetry of a data folder says of a tenant's endpoints, by day. */
export async function readDays(
  { dataDir, tenant }: TenantPart,
  now: number,
  tally: ReadTally = noTally(),
): Promise<readonly DayRow[]> {
  const days = createDays()
  const sinceMs = now - WINDOW_DAYS * DAY_MS
  for await (const events of readEvents(telemetryFolder(dataDir), { tenant, sinceMs }, tally)) {
    for (const event of events) if (event.ts_ms <= now) days.add(event)
  }
  return days.rows()
}

/** The closed spans in a data folder. @throws AppError `invalid_request` */
export async function readSpans(part: TenantPart): Promise<readonly Fingerprint[]> {
  return (await readFingerprintFile(join(folderOf(part), SPANS_FILE))) ?? []
}

/** Writes both files. The caller has the lock of builds. */
export function writeRows(part: TenantPart, { spans, endpoints }: BuiltRows): void {
  writeFingerprintFile(join(folderOf(part), SPANS_FILE), spans)
  writeFingerprintFile(join(folderOf(part), ENDPOINTS_FILE), endpoints)
}

export function folderOf({ dataDir, tenant }: TenantPart): string {
  return join(fingerprintsFolder(dataDir), tenant)
}

/** The rows of both files. @param spans that were closed before */
export function rowsOf(
  spans: readonly Fingerprint[],
  days: readonly DayRow[],
  now: number,
): BuiltRows {
  const closed = keptSpans(spans, now, MAX_ROWS)
  const collector = createCollector(closed, now)
  const oldest = dayOf(now - WINDOW_DAYS * DAY_MS)
  for (const row of days) if (row.day >= oldest) collector.add(row)
  const room = MAX_ROWS - closed.length
  const fresh = mostOf(collector.closable(), room, each => each.source_sessions)
  const endpoints = mostOf(collector.endpoints(), MAX_ROWS, each => each.call_count)
  return {
    spans: [...closed, ...fresh].sort(byNameAndTime),
    endpoints: endpoints.toSorted(byNameAndTime),
  }
}
