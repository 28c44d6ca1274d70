import type { ShapeName } from '../../core/telemetry/event.ts'
import { addSavings, noSavings, type SavingsSums } from '../../core/telemetry/savings.ts'
import { entryOf } from '../entry-of.ts'
import type { Mined } from '../mine-log.ts'
import { countShare, medianShare, type ShareCounts, savingOf } from './counts.ts'
import { APPLICABLE_SHARE } from './encoded.ts'

/** Properties of the results of one endpoint class, and how most of them were sent. */
export interface EndpointStudy {
  readonly endpoint: string
  readonly sums: SavingsSums
  readonly shape: ShapeName
  /** Share of results that have it. */
  readonly shape_share: number
  /** What was sent most often for results without a reference; `null`: they stayed as they were. */
  readonly notation: string | null
  readonly support: number
  readonly confidence: number
  readonly median_saving: number | null
  /** Results without a reference that a format saved much of. */
  readonly applicable: number
}

interface FormatTotals {
  results: number
  readonly shares: ShareCounts
}

interface Endpoint {
  readonly sums: SavingsSums
  readonly shapes: Map<ShapeName, number>
  readonly notations: Map<string | null, FormatTotals>
  applicable: number
}

/** More come from a client that makes up names; they are summed up as one. */
const MAX_ENDPOINTS = 10_000
const OTHERS = 'others'

export function createEndpointStudies() {
  const endpoints = new Map<string, Endpoint>()

  function of(name: string): Endpoint {
    const key = endpoints.has(name) || endpoints.size < MAX_ENDPOINTS ? name : OTHERS
    return entryOf(endpoints, key, () => {
      return { sums: noSavings(), shapes: new Map(), notations: new Map(), applicable: 0 }
    })
  }

  return {
    add({ event, notation }: Mined): void {
      const endpoint = of(event.endpoint_class)
      addSavings(endpoint.sums, event, 1)
      endpoint.shapes.set(event.shape, (endpoint.shapes.get(event.shape) ?? 0) + 1)
      if (event.is_dedup_hit) return
      const saving = savingOf(event)
      if (saving >= APPLICABLE_SHARE) endpoint.applicable++
      const counts = entryOf(endpoint.notations, notation, noTotals)
      counts.results++
      countShare(counts.shares, saving)
    },
    /** Those with most tokens first. */
    result: (): readonly EndpointStudy[] =>
      [...endpoints]
        .map(([name, endpoint]) => toStudy(name, endpoint))
        .sort((a, b) => b.sums.baseline - a.sums.baseline || (a.endpoint < b.endpoint ? -1 : 1)),
  }
}

function noTotals(): FormatTotals {
  return { results: 0, shares: new Map() }
}

function toStudy(
  endpoint: string,
  { sums, shapes, notations, applicable }: Endpoint,
): EndpointStudy {
  const [shape, ofShape] = [...shapes].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))[0]!
  const [best] = [...notations].sort(([a, m], [b, n]) => {
    return n.results - m.results || (String(a) < String(b) ? -1 : 1)
  })
  const [notation, counts] = best ?? [null, noTotals()]
  const support = sums.results - sums.l0Results
  return {
    endpoint,
    sums,
    shape,
    shape_share: ofShape / sums.results,
    notation,
    support,
    confidence: support === 0 ? 0 : counts.results / support,
    median_saving: medianShare(counts.shares),
    applicable,
  }
}
