import type { TelemetryEvent } from '../../core/telemetry/event.ts'

/** Results of some kind, and what formats saved of them if no reference replaced them. */
export interface Counts {
  results: number
  /** Of the results as their tools gave them. */
  tokens: number
  saved_tokens: number
}

export function noCounts(): Counts {
  return { results: 0, tokens: 0, saved_tokens: 0 }
}

/** Adds an event. What a reference saved is not a format's. */
export function count(counts: Counts, event: TelemetryEvent): void {
  counts.results++
  counts.tokens += event.tokens_baseline
  if (!event.is_dedup_hit) counts.saved_tokens += event.encoder_tokens_saved
}

/** The share of the event's tokens that its format saved. */
export function savingOf({ encoder_tokens_saved, tokens_baseline }: TelemetryEvent): number {
  return tokens_baseline === 0 ? 0 : encoder_tokens_saved / tokens_baseline
}

/** The map's entry, which is made if there is none. */
export function entryOf<Key, Entry>(map: Map<Key, Entry>, key: Key, create: () => Entry): Entry {
  const known = map.get(key)
  if (known !== undefined) return known
  const entry = create()
  map.set(key, entry)
  return entry
}
