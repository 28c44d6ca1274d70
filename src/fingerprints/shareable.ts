import { matchesEndpoint, serverPattern } from '../core/fingerprints/endpoint-pattern.ts'
import {
  DAY_MS,
  type Fingerprint,
  LEAST_SESSIONS,
  WINDOW_DAYS,
} from '../core/fingerprints/fingerprint.ts'

/**
 * The closed spans that may be shared: those in the window that have at least `LEAST_SESSIONS`
 * sessions.
 * @param now Unix milliseconds
 */
export function shareable(spans: readonly Fingerprint[], now: number): Fingerprint[] {
  const oldest = now - WINDOW_DAYS * DAY_MS
  return spans.filter(
    ({ first_seen_ms, source_sessions }) =>
      first_seen_ms >= oldest && source_sessions >= LEAST_SESSIONS,
  )
}

/** The rows that belong to a provider's own servers. */
export function ofServers<Row extends Fingerprint>(
  rows: readonly Row[],
  servers: readonly string[],
): Row[] {
  const patterns = servers.map(serverPattern)
  return rows.filter(({ endpoint_class }) => matchesEndpoint(endpoint_class, patterns))
}
