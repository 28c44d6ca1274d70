import { join } from 'node:path'
import { z } from 'zod'
import { createCollector, keptSpans } from '../../core/fingerprints/collect.ts'
import {
  createDays,
  dayRowsSchema,
  readDayRows,
  writeDayRows,
} from '../../core/fingerprints/day-rows.ts'
import {
  DAY_MS,
  dayOf,
  type Fingerprint,
  fingerprintSchema,
  WINDOW_DAYS,
} from '../../core/fingerprints/fingerprint.ts'
import { telemetryFolder } from '../../telemetry/layout.ts'
import { noTally } from '../../telemetry/read-lines.ts'
import { readEvents } from '../../telemetry/read-telemetry.ts'
import { fingerprintsFolder, SPANS_FILE } from '../folder-files.ts'
import { fingerprintsToParquet } from '../parquet-file.ts'
import { fingerprintsIn, MAX_ROWS, readFingerprintFile } from '../span-file.ts'
import { rowsOf } from './build-fingerprints.ts'

/** What a replica reports of one tenant: its days, and the closed spans that it knows. */
const reportSchema = z.object({ rows: dayRowsSchema, spans: z.array(fingerprintSchema) })

export interface ReportTask {
  readonly dataDir: string
  /** The tenant's folder. */
  readonly tenant: string
  readonly now: number
}

export interface BuildTask extends ReportTask {
  /** What `report` gave to each replica. */
  readonly reported: readonly Uint8Array[]
  /** The files of spans that were built before, by any of them. */
  readonly before: readonly Uint8Array[]
}

/** The files of a tenant's fingerprints. */
export interface BuiltFiles {
  readonly spans: Uint8Array
  readonly endpoints: Uint8Array
  /** What was reported in a way that this version cannot read. */
  readonly unreadable: number
}

/** What a replica does with telemetry so that fingerprints are of all of them. */
export const TASKS = {
  /** What the telemetry of this data folder says of a tenant. */
  async report({ dataDir, tenant, now }: ReportTask): Promise<Uint8Array> {
    const days = createDays()
    const sinceMs = now - WINDOW_DAYS * DAY_MS
    const events = readEvents(telemetryFolder(dataDir), { tenant, sinceMs }, noTally())
    for await (const some of events) {
      for (const event of some) if (event.ts_ms <= now) days.add(event)
    }
    const spans = await readSpans({ dataDir, tenant })
    return Buffer.from(JSON.stringify({ rows: writeDayRows(days.rows()), spans }))
  },
  /** Fingerprints of what all replicas have reported. No span that one knows is forgotten. */
  async build({ reported, before, ...own }: BuildTask): Promise<BuiltFiles> {
    const { now } = own
    const read = reported.map(readReport)
    const earlier = await Promise.all([readSpans(own), ...before.map(fingerprintsIn)])
    const closed = new Map<string, Fingerprint>()
    for (const span of [...earlier, ...read.map(each => each?.spans ?? [])].flat())
      closed.set(`${span.endpoint_class} ${span.first_seen_ms} ${span.last_seen_ms}`, span)
    const oldest = dayOf(now - WINDOW_DAYS * DAY_MS)
    const kept = keptSpans([...closed.values()], now, MAX_ROWS)
    const collector = createCollector(kept, now)
    for (const row of read.flatMap(each => readDayRows(each?.rows ?? [])))
      if (row.day >= oldest) collector.addDay(row)
    const { spans, endpoints } = rowsOf(collector, kept)
    return {
      spans: fingerprintsToParquet(spans),
      endpoints: fingerprintsToParquet(endpoints),
      unreadable: read.filter(each => each === null).length,
    }
  },
}

export type BuildTasks = typeof TASKS

/** The closed spans in this data folder. */
async function readSpans({ dataDir, tenant }: Pick<ReportTask, 'dataDir' | 'tenant'>) {
  return (await readFingerprintFile(join(fingerprintsFolder(dataDir), tenant, SPANS_FILE))) ?? []
}

function readReport(bytes: Uint8Array): z.output<typeof reportSchema> | null {
  try {
    return reportSchema.parse(JSON.parse(Buffer.from(bytes).toString()))
  } catch {
    return null
  }
}
