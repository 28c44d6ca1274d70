import { byName, dayOf, LIMITS, type MergedFingerprint } from './fingerprint.ts'
import { fingerprintOf, noSums, type Sums } from './formulas.ts'
import type { UploadedRow } from './upload-record.ts'
import { addWeighted } from './weighted-sums.ts'

export interface Merge {
  /** Fresh ones first; by name within each. */
  readonly fingerprints: readonly MergedFingerprint[]
  /** Endpoints that were left out, those with the fewest sessions. */
  readonly left_out: number
  /** When the latest of its rows was uploaded: Unix milliseconds, 0 if there is none. */
  readonly generatedAt: number
  /** When the document changes without an upload: Unix milliseconds, or infinity. */
  readonly changesAt: number
}

/** What an endpoint has of live rows: sessions, `null` if there is no row. */
interface Endpoint {
  readonly name: string
  fresh: number | null
  stale: number | null
}

/**
 * All members' rows together, in two passes: counts and sessions added up, means and shares
 * weighted by sessions (`addWeighted`), and times as days. A row that was uploaded longer than
 * `LIMITS.freshMs` ago counts only if no fresher one has the endpoint, which is then marked `stale`
 * and put last; one of `LIMITS.keptMs` ago counts no more.
 * @param now Unix milliseconds
 */
export function mergeUploads(uploads: Iterable<readonly UploadedRow[]>, now: number): Merge {
  const endpoints = new Map<string, Endpoint>()
  let changesAt = Number.POSITIVE_INFINITY
  let generatedAt = 0
  for (const { row, at, isStale } of liveRows(uploads, now)) {
    const { endpoint_class: name, source_sessions: sessions } = row
    generatedAt = Math.max(generatedAt, at)
    changesAt = Math.min(changesAt, at + (isStale ? LIMITS.keptMs : LIMITS.freshMs))
    const endpoint = endpoints.get(name) ?? { name, fresh: null, stale: null }
    if (endpoint.fresh === null && endpoint.stale === null) endpoints.set(name, endpoint)
    if (isStale) endpoint.stale = (endpoint.stale ?? 0) + sessions
    else endpoint.fresh = (endpoint.fresh ?? 0) + sessions
  }
  const shown = mostOf([...endpoints.values()])
  // Members can make up millions of names: there are sums only for those that are shown.
  const sumsOf = new Map(
    shown.map(({ name, fresh }) => [name, { sums: noSums(), stale: fresh === null }]),
  )
  for (const { row, isStale } of liveRows(uploads, now)) {
    const found = sumsOf.get(row.endpoint_class)
    if (found === undefined || found.stale !== isStale) continue
    found.sums.calls += row.call_count
    found.sums.sessions += row.source_sessions
    addWeighted(found.sums, row, row.source_sessions)
  }
  return {
    fingerprints: [...sumsOf].map(([name, { sums, stale }]) => shownOf(name, sums, stale)),
    left_out: endpoints.size - shown.length,
    generatedAt,
    changesAt,
  }
}

/** Rows that still count; `isStale`: uploaded longer than `LIMITS.freshMs` ago. */
function* liveRows(uploads: Iterable<readonly UploadedRow[]>, now: number) {
  for (const rows of uploads) {
    for (const { row, at } of rows) {
      const age = now - at
      if (age < LIMITS.keptMs) yield { row, at, isStale: age >= LIMITS.freshMs }
    }
  }
}

/** Those of the most sessions, in the order in which they are shown. */
function mostOf(endpoints: Endpoint[]): Endpoint[] {
  const sessionsOf = ({ fresh, stale }: Endpoint) => fresh ?? stale ?? 0
  const most =
    endpoints.length <= LIMITS.endpoints
      ? endpoints
      : endpoints
          .sort((a, b) => sessionsOf(b) - sessionsOf(a) || byName(a.name, b.name))
          .slice(0, LIMITS.endpoints)
  const isStale = ({ fresh }: Endpoint) => Number(fresh === null)
  return most.sort((a, b) => isStale(a) - isStale(b) || byName(a.name, b.name))
}

function shownOf(name: string, sums: Sums, stale: boolean): MergedFingerprint {
  const { first_seen_ms, last_seen_ms, ...rest } = fingerprintOf(name, sums)
  return {
    ...rest,
    first_seen_ms: dayOf(first_seen_ms),
    last_seen_ms: dayOf(last_seen_ms),
    stale,
  }
}
