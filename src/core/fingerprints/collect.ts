import { INNER_FORMATS } from '../classify/inner-formats.ts'
import type { DayRow } from './day-rows.ts'
import { addSums, BACK, noteHaving, type Part } from './event-sums.ts'
import {
  byName,
  DAY_MS,
  dayOf,
  type Fingerprint,
  LEAST_SESSIONS,
  WINDOW_DAYS,
} from './fingerprint.ts'
import { fingerprintOf, noSums, type Sums } from './formulas.ts'
import { BOUNDS, type HistogramName, joinBuckets, type RateName } from './histograms.ts'

/** Shortest span, so that a window has few of them. */
const LEAST_SPAN_MS = 7 * DAY_MS

/** Takes days of endpoints, in any order, and returns the fingerprints of endpoints. */
export interface Collector {
  /** Takes what one process has of one endpoint's day. */
  add(row: DayRow): void
  /**
   * A fingerprint of each endpoint, of all events, by name. Sessions are counted as seen and never
   * scaled up: they are the k of k-anonymity.
   */
  endpoints(): Fingerprint[]
  /** The spans that can be closed now, by name. */
  closable(): Fingerprint[]
}

interface Endpoint {
  readonly all: Sums
  readonly sessions: Set<string>
  /** The first moment after its last span. */
  readonly from: number
  /** Sums over events of sessions after that, and before today. */
  readonly open: Sums
  readonly openSessions: Set<string>
  /** Sessions of those events that have a part: as many as are asked for. */
  readonly having: Map<Part, Set<string>>
  /** Sessions with events before it: some span has counted them. */
  readonly counted: Set<string>
}

/**
 * Collects what may be shared beside what is for oneself. What may be shared is an endpoint's time
 * cut into spans of whole days (UTC), each with a fingerprint that never changes once the span is
 * closed, and each with at least `LEAST_SESSIONS` sessions that no earlier span of the endpoint has
 * counted; so whatever is added up and taken apart of spans is of whole ones. A figure of a part of
 * the responses is left out where fewer sessions have that part. A span begins after the last one
 * and ends with the last day before today that has events. The first is closed as soon as it has
 * its sessions, later ones when they have also lasted a week. Its times are those of its days.
 * Events without a session are in none, and an event that comes to be known only after its day is
 * in a closed span is in none either.
 * @param closed spans from before
 * @param now Unix milliseconds: its day is not over
 */
export function createCollector(closed: readonly Fingerprint[], now: number): Collector {
  const endpoints = new Map<string, Endpoint>()
  const today = dayOf(now)
  const ends = new Map<string, number>()
  for (const { endpoint_class: name, last_seen_ms } of closed) {
    ends.set(name, Math.max(ends.get(name) ?? 0, dayOf(last_seen_ms) + DAY_MS))
  }

  function endpointOf(name: string): Endpoint {
    const known = endpoints.get(name)
    if (known !== undefined) return known
    const endpoint = {
      all: noSums(),
      sessions: new Set<string>(),
      from: ends.get(name) ?? Number.NEGATIVE_INFINITY,
      open: noSums(),
      openSessions: new Set<string>(),
      having: new Map<Part, Set<string>>(),
      counted: new Set<string>(),
    }
    endpoints.set(name, endpoint)
    return endpoint
  }

  return {
    add({ name, day, all, open, sessions, having }) {
      const endpoint = endpointOf(name)
      addSums(endpoint.all, all)
      for (const session of sessions) endpoint.sessions.add(session)
      if (day < endpoint.from) {
        for (const session of sessions) endpoint.counted.add(session)
      } else if (day < today && (open.weight > 0 || BACK.some(each => having.has(each)))) {
        addSums(endpoint.open, open)
        for (const session of sessions) endpoint.openSessions.add(session)
        for (const [part, some] of having) {
          for (const session of some) noteHaving(endpoint.having, part, session)
        }
      }
    },
    endpoints: () =>
      [...endpoints]
        .filter(([, { all }]) => all.weight > 0)
        .map(([name, { all, sessions }]) =>
          fingerprintOf(name, { ...all, sessions: sessions.size }),
        )
        .sort(byNameAndTime),
    closable: () =>
      [...endpoints]
        .map(([name, endpoint]) => spanOf(name, endpoint))
        .filter(span => span !== null)
        .sort(byNameAndTime),
  }
}

/** The span after the last one; `null` if it is not to be closed yet. */
function spanOf(name: string, endpoint: Endpoint): Fingerprint | null {
  const { open, openSessions, having, counted, from } = endpoint
  const fresh = [...openSessions].filter(session => !counted.has(session)).length
  if (fresh < LEAST_SESSIONS || dayOf(open.last) + DAY_MS - from < LEAST_SPAN_MS) return null
  const isOfEnough = (part: Part) => (having.get(part)?.size ?? 0) >= LEAST_SESSIONS
  const formats = open.formats.map((weight, index) => {
    return isOfEnough(INNER_FORMATS[index]!) ? weight : 0
  })
  return fingerprintOf(name, {
    ...open,
    sessions: fresh,
    formats,
    buckets: {
      repeat_burst: bucketsOf('repeat_burst'),
      response_chars: bucketsOf('response_chars'),
      depth: bucketsOf('depth'),
    },
    rates: {
      elided: rateOf('elided'),
      retrieved: rateOf('retrieved'),
      needed: rateOf('needed'),
    },
    tables: isOfEnough('tables') ? open.tables : 0,
    lists: isOfEnough('lists') ? open.lists : 0,
    first: dayOf(open.first),
    last: dayOf(open.last),
  })

  function bucketsOf(name: HistogramName): Float64Array {
    const joined = joinBuckets(open.buckets[name], at => isOfEnough(`${name} ${at}`))
    return joined ?? new Float64Array(BOUNDS[name].length)
  }

  /** None and few look the same. */
  function rateOf(rate: RateName): Sums['rates'][RateName] {
    return isOfEnough(rate) ? open.rates[rate] : { part: 0, weight: 0 }
  }
}

/**
 * Closed spans that no later one may share a day with: those in the window, and the last one of
 * each endpoint, however old it seems. Without the last one, the same days would be shared once
 * more after a clock was wrong for a while.
 * @param now Unix milliseconds
 * @param most of more, the oldest go
 */
export function keptSpans(
  closed: readonly Fingerprint[],
  now: number,
  most: number,
): readonly Fingerprint[] {
  const oldest = now - WINDOW_DAYS * DAY_MS
  const lasts = new Map(closed.toSorted(byNameAndTime).map(span => [span.endpoint_class, span]))
  const kept = closed.filter(
    span => span.last_seen_ms >= oldest || lasts.get(span.endpoint_class) === span,
  )
  return mostOf(kept, most, span => span.last_seen_ms)
}

/**
 * If there are more than `most` rows, keeps those with the largest figure. A client that invents
 * names could fill any file.
 */
export function mostOf(
  rows: readonly Fingerprint[],
  most: number,
  of: (row: Fingerprint) => number,
): readonly Fingerprint[] {
  if (rows.length <= most) return rows
  return rows.toSorted((a, b) => of(b) - of(a) || byNameAndTime(a, b)).slice(0, most)
}

export function byNameAndTime(a: Fingerprint, b: Fingerprint): number {
  return byName(a.endpoint_class, b.endpoint_class) || a.first_seen_ms - b.first_seen_ms
}
