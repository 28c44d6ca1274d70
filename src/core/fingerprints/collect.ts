import { NO_SESSION } from '../telemetry/event.ts'
import { byName, DAY_MS, type Fingerprint, LEAST_SESSIONS } from './fingerprint.ts'
import { fingerprintOf, noSums, type Sums } from './formulas.ts'
import { addEvent, type EndpointEvent } from './from-events.ts'

/** What a span lasts at least, so that a window has few of them. */
const LEAST_SPAN_MS = 3 * DAY_MS

/** Takes events, in any order, and says what endpoints are like. */
export interface Collector {
  add(event: EndpointEvent): void
  /**
   * A fingerprint of each endpoint, of all events, by name. Sessions are counted as seen and never scaled up: they are the k of
   * k-anonymity.
   */
  endpoints(): Fingerprint[]
  /** The spans that were closed before, and those that can be closed now, by name and time. */
  spans(): Fingerprint[]
}

interface Endpoint {
  readonly all: Sums
  readonly sessions: Set<string>
  /** When its last span ended. */
  readonly end: number
  /** Of events of sessions behind that. */
  readonly open: Sums
  readonly openSessions: Set<string>
  /** Sessions with events before it: some span has counted them. */
  readonly counted: Set<string>
}

/**
 * Collects what may be shared beside what is for oneself. What may be shared is an endpoint's time cut into spans, each with a fingerprint
 * that never changes once the span is closed, and each with at least `LEAST_SESSIONS` sessions that no earlier span of the endpoint has
 * counted; so whatever is added up and taken apart of spans is of whole ones. A span begins behind the last one and ends with the
 * last event that is known when it is closed. The first is closed as soon as it has its sessions, later ones when they have also lasted
 * for three days. Events without a session are in none, and an event that comes to be known only after a later one is in a closed span is
 * in none either.
 * @param closed spans from before
 */
export function createCollector(closed: readonly Fingerprint[]): Collector {
  const endpoints = new Map<string, Endpoint>()
  const ends = new Map<string, number>()
  for (const { endpoint_class: name, last_seen_ms } of closed) {
    ends.set(name, Math.max(ends.get(name) ?? 0, last_seen_ms))
  }

  function endpointOf(name: string): Endpoint {
    const known = endpoints.get(name)
    if (known !== undefined) return known
    const endpoint = {
      all: noSums(),
      sessions: new Set<string>(),
      end: ends.get(name) ?? Number.NEGATIVE_INFINITY,
      open: noSums(),
      openSessions: new Set<string>(),
      counted: new Set<string>(),
    }
    endpoints.set(name, endpoint)
    return endpoint
  }

  return {
    add(event) {
      const { session_hash: session, ts_ms } = event
      const { all, sessions, end, open, openSessions, counted } = endpointOf(event.endpoint_class)
      addEvent(all, event)
      if (session === NO_SESSION) return
      sessions.add(session)
      if (ts_ms <= end) {
        counted.add(session)
        return
      }
      addEvent(open, event)
      openSessions.add(session)
    },
    endpoints: () =>
      [...endpoints]
        .map(([name, { all, sessions }]) =>
          fingerprintOf(name, { ...all, sessions: sessions.size }),
        )
        .sort(byNameAndTime),
    spans() {
      const fresh = [...endpoints].map(([name, endpoint]) => spanOf(name, endpoint))
      return [...closed, ...fresh.filter(span => span !== null)].sort(byNameAndTime)
    },
  }
}

/** The span behind the last one; `null` where it is not to be closed yet. */
function spanOf(name: string, endpoint: Endpoint): Fingerprint | null {
  const { open, openSessions, counted, end } = endpoint
  const fresh = [...openSessions].filter(session => !counted.has(session)).length
  if (fresh < LEAST_SESSIONS || open.last - end < LEAST_SPAN_MS) return null
  return fingerprintOf(name, { ...open, sessions: fresh })
}

function byNameAndTime(a: Fingerprint, b: Fingerprint): number {
  return byName(a.endpoint_class, b.endpoint_class) || a.first_seen_ms - b.first_seen_ms
}
