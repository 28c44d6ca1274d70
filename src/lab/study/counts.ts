import type { TelemetryEvent } from '../../core/telemetry/event.ts'

/** Results of some kind, and what formats saved of them if no reference replaced them. */
export interface Counts {
  results: number
  /** Tokens of the results as their tools gave them. */
  tokens: number
  saved_tokens: number
}

export function noCounts(): Counts {
  return { results: 0, tokens: 0, saved_tokens: 0 }
}

/** Adds an event. Savings of a reference are not counted as a format's. */
export function count(counts: Counts, event: TelemetryEvent): void {
  counts.results++
  counts.tokens += event.tokens_baseline
  if (!event.is_dedup_hit) counts.saved_tokens += event.encoder_tokens_saved
}

/** The share of the event's tokens that its format saved. */
export function savingOf({ encoder_tokens_saved, tokens_baseline }: TelemetryEvent): number {
  return tokens_baseline === 0 ? 0 : encoder_tokens_saved / tokens_baseline
}

/** Whole percents that a share is counted by. */
const PERCENTS = 100

/** How many results have which share of their tokens saved, to a whole percent. */
export type ShareCounts = Map<number, number>

/** @param share at most 1; what is negative counts as 0 */
export function countShare(counts: ShareCounts, share: number): void {
  const percent = Math.max(0, Math.floor(share * PERCENTS))
  counts.set(percent, (counts.get(percent) ?? 0) + 1)
}

export function addShares(sums: ShareCounts, counts: ShareCounts): void {
  for (const [percent, count] of counts) sums.set(percent, (sums.get(percent) ?? 0) + count)
}

/** The lower median, rounded down to a whole percent, as a share of 1; `null` of nothing. */
export function medianShare(counts: ShareCounts): number | null {
  const sorted = [...counts].sort(([a], [b]) => a - b)
  const total = sorted.reduce((sum, [, count]) => sum + count, 0)
  let before = 0
  for (const [percent, count] of sorted) {
    before += count
    if (2 * before >= total) return percent / PERCENTS
  }
  return null
}
