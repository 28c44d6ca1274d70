import { byName, DAY_MS, type Fingerprint, WINDOW_DAYS } from './fingerprint.ts'

/**
 * Closed spans that no later one may share a day with: those in the window, and the last one of
 * each endpoint, however old it seems, since a clock that was wrong for a while would have the same
 * days shared once more.
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
 * Of more than `most` rows those with the most of something: a client that makes up names could
 * fill any file.
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
