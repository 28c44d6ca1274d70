import { readReport, writeReport } from '../../core/fingerprints/day-rows.ts'
import type { Fingerprint } from '../../core/fingerprints/fingerprint.ts'
import { readLines, writeLines } from '../../core/fingerprints/lines.ts'
import {
  type BuiltRows,
  buildFingerprints,
  folderOf,
  readDays,
  readSpans,
  rowsOf,
  type TenantPart,
  writeRows,
} from './build-fingerprints.ts'
import { withBuildLock } from './build-lock.ts'

interface BuildTask extends TenantPart {
  readonly now: number
  /** What `report` gave to each replica. */
  readonly reported: readonly Uint8Array[]
  /** What was built before, by any of them; `null` if nothing was. */
  readonly before: Uint8Array | null
}

/** What builds do in their thread; all but the first is for replicas that build together. */
export const TASKS = {
  /** Fingerprints of all tenants, of this data folder alone. */
  buildAll: ({ dataDir, now }: { readonly dataDir: string; readonly now: number }) =>
    buildFingerprints(dataDir, now),
  /** What the telemetry of this data folder says of a tenant, and the spans that it knows. */
  async report({ now, ...part }: TenantPart & { readonly now: number }): Promise<Uint8Array> {
    return writeReport({ rows: await readDays(part, now), spans: await readSpans(part) })
  },
  /** Fingerprints of what all replicas have reported. No span that one knows is forgotten. */
  async build({ reported, before, now, ...part }: BuildTask): Promise<Uint8Array> {
    const reports = reported.map(readReport).filter(report => report !== null)
    const earlier = before === null ? [] : readBuilt(before).spans
    const closed = new Map<string, Fingerprint>()
    for (const span of [
      ...(await readSpans(part)),
      ...earlier,
      ...reports.flatMap(each => each.spans),
    ])
      closed.set(`${span.endpoint_class} ${span.first_seen_ms} ${span.last_seen_ms}`, span)
    const days = reports.flatMap(({ rows }) => rows)
    const { spans, endpoints } = rowsOf([...closed.values()], days, now)
    return writeLines([{ spans: spans.length }, ...spans, ...endpoints])
  },
  /** Puts what was built into this data folder. */
  take({ built, ...part }: TenantPart & { readonly built: Uint8Array }): Promise<void> {
    return withBuildLock(folderOf(part), async () => writeRows(part, readBuilt(built)))
  },
}

export type BuildTasks = typeof TASKS

function readBuilt(bytes: Uint8Array): BuiltRows {
  const [head, ...rows] = readLines(bytes) as [{ readonly spans: number }, ...Fingerprint[]]
  return { spans: rows.slice(0, head.spans), endpoints: rows.slice(head.spans) }
}
