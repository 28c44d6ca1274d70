import { addWeighted } from './add-weighted.ts'
import { byName, dayOf, LIMITS, type MergedFingerprint } from './fingerprint.ts'
import { fingerprintOf, noSums, type Sums } from './formulas.ts'
import { FIELD, type PackedRows, ROW } from './packed-rows.ts'

export interface Merge {
  /** Fresh ones first; by name within each. */
  readonly fingerprints: readonly MergedFingerprint[]
  /** Endpoints that were left out, those with the fewest sessions. */
  readonly left_out: number
  /** When the latest of its rows was uploaded: Unix milliseconds, 0 where there is none. */
  readonly generatedAt: number
  /** When it will be another one though nothing is uploaded: Unix milliseconds, or infinity. */
  readonly changesAt: number
}

interface Endpoint {
  fresh: Sums | null
  stale: Sums | null
}

/**
 * All members' rows together: counts and sessions added up, means and shares weighted by sessions (`addWeighted`), and times as days. A row that was uploaded
 * longer than `LIMITS.freshMs` ago counts only where nobody's fresher one has the endpoint, which is then marked `stale` and put last; one
 * of `LIMITS.keptMs` ago counts no more.
 * @param now Unix milliseconds
 */
export function mergeUploads(uploads: Iterable<PackedRows>, now: number): Merge {
  const endpoints = new Map<string, Endpoint>()
  let changesAt = Number.POSITIVE_INFINITY
  let generatedAt = 0
  for (const { names, numbers } of uploads) {
    for (let index = 0; index < names.length; index += 1) {
      const at = index * ROW
      const uploaded = numbers[at + FIELD.uploaded]!
      const age = now - uploaded
      if (age >= LIMITS.keptMs) continue
      generatedAt = Math.max(generatedAt, uploaded)
      const isStale = age >= LIMITS.freshMs
      changesAt = Math.min(changesAt, uploaded + (isStale ? LIMITS.keptMs : LIMITS.freshMs))
      const name = names[index]!
      let endpoint = endpoints.get(name)
      if (endpoint === undefined) {
        endpoint = { fresh: null, stale: null }
        endpoints.set(name, endpoint)
      }
      const sums = (isStale ? endpoint.stale : endpoint.fresh) ?? noSums()
      if (isStale) endpoint.stale = sums
      else endpoint.fresh = sums
      const sessions = numbers[at + FIELD.sessions]!
      sums.calls += numbers[at + FIELD.calls]!
      sums.sessions += sessions
      addWeighted(sums, numbers, at, sessions)
    }
  }
  return { ...documentOf(endpoints), generatedAt, changesAt }
}

function documentOf(endpoints: ReadonlyMap<string, Endpoint>) {
  const all = [...endpoints].map(([name, { fresh, stale }]) => {
    const sums = fresh ?? stale!
    return { name, sums, stale: fresh === null }
  })
  const most =
    all.length <= LIMITS.endpoints
      ? all
      : all
          .sort((a, b) => b.sums.sessions - a.sums.sessions || byName(a.name, b.name))
          .slice(0, LIMITS.endpoints)
  const fingerprints = most
    .sort((a, b) => Number(a.stale) - Number(b.stale) || byName(a.name, b.name))
    .map(({ name, sums, stale }) => {
      const { first_seen_ms, last_seen_ms, ...rest } = fingerprintOf(name, sums)
      return {
        ...rest,
        first_seen_ms: dayOf(first_seen_ms),
        last_seen_ms: dayOf(last_seen_ms),
        stale,
      }
    })
  return { fingerprints, left_out: endpoints.size - fingerprints.length }
}
