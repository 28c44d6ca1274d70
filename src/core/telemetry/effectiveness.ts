/** Counters of what calls ahead, fail-fast and repeated results brought (SOURCES.md#planner). */
export interface EffectivenessCounts {
  /** Results that were fetched ahead, as events tell of them. */
  prefetches: number
  /** Offers that the model asked for within its next calls. */
  cited: number
  /** Calls that were declined, and those of them that the model made soon after. */
  declines: number
  late_invoked: number
  /** Results whose size was predicted, and those that were 1.3 times as large or larger. */
  predictions: number
  overruns: number
  /** Fetches that have ended, and what became of them. */
  dispatched: number
  served: number
  joined: number
  wasted: number
  wasted_bytes: number
  /** Time that calls did not have to wait. */
  saved_ms: number
  /** Calls that the model did not have to make, by what answered them. */
  saved_prefetch: number
  saved_dedup: number
  saved_fail_fast: number
  /** Results of polling that were the same again. */
  unchanged: number
  tokens_saved: number
}

/** The part of a telemetry event that is read. */
export interface EnrichmentEvent {
  readonly is_dedup_hit: boolean
  readonly tokens_baseline: number
  readonly enricher_prefetched?: boolean | undefined
  readonly enricher_predicted_cost_tokens?: number | undefined
  readonly enricher_decline_reason?: string | undefined
  readonly cited_in_next_n_turns?: boolean | undefined
  readonly response_chars?: number | undefined
  readonly enricher_fetch?: FetchEnd | undefined
  readonly enricher_saved_ms?: number | undefined
  readonly enricher_unsent?: 'fail_fast' | 'unchanged' | undefined
}

/** What becomes of a fetch. */
type FetchEnd = 'served' | 'joined' | 'wasted'

export function noEffectiveness(): EffectivenessCounts {
  return {
    prefetches: 0,
    cited: 0,
    declines: 0,
    late_invoked: 0,
    predictions: 0,
    overruns: 0,
    dispatched: 0,
    served: 0,
    joined: 0,
    wasted: 0,
    wasted_bytes: 0,
    saved_ms: 0,
    saved_prefetch: 0,
    saved_dedup: 0,
    saved_fail_fast: 0,
    unchanged: 0,
    tokens_saved: 0,
  }
}

/** Adds one event, with the formulas of the seed's table "Inference calls saved". */
export function addEvent(counts: EffectivenessCounts, event: EnrichmentEvent): void {
  const predicted = event.enricher_predicted_cost_tokens ?? 0
  const isCited = event.cited_in_next_n_turns === true
  if (event.enricher_prefetched === true) {
    counts.prefetches++
    if (isCited) {
      counts.cited++
      counts.saved_prefetch++
      counts.tokens_saved += event.tokens_baseline
    }
  }
  if (event.enricher_decline_reason !== undefined) {
    counts.declines++
    if (isCited) counts.late_invoked++
  }
  if (predicted > 0) {
    counts.predictions++
    if (isOverrun(predicted, event.tokens_baseline)) counts.overruns++
  }
  if (event.enricher_fetch !== undefined) {
    counts.dispatched++
    counts[event.enricher_fetch]++
    counts.saved_ms += event.enricher_saved_ms ?? 0
    if (event.enricher_fetch === 'wasted') counts.wasted_bytes += event.response_chars ?? 0
  }
  if (event.enricher_unsent === 'fail_fast') {
    counts.saved_fail_fast++
    counts.tokens_saved += event.tokens_baseline
  }
  if (event.enricher_unsent === 'unchanged') counts.unchanged++
  if (event.is_dedup_hit) {
    counts.saved_dedup++
    counts.tokens_saved += event.tokens_baseline
  }
}

/** Whether a result was at least 1.3 times as large as predicted. */
function isOverrun(predicted: number, actual: number): boolean {
  return 10 * actual >= 13 * predicted
}

/** Shares of 1; `null` if there is nothing that they are of. */
export interface EffectivenessRates {
  /** Target: at least 60 %. */
  readonly prefetch_hit: number | null
  /** Target: at most 10 %. */
  readonly decline_recall_loss: number | null
  /** Target: at most 15 %. */
  readonly cost_overrun: number | null
  /** The share of started fetches that were there when the model asked. */
  readonly race_win: number | null
  readonly waste: number | null
}

export function ratesOf(counts: EffectivenessCounts): EffectivenessRates {
  return {
    prefetch_hit: prefetchHit(counts),
    decline_recall_loss: share(counts.late_invoked, counts.declines),
    cost_overrun: share(counts.overruns, counts.predictions),
    race_win: share(counts.served, counts.dispatched),
    waste: share(counts.wasted, counts.dispatched),
  }
}

/**
 * Used calls of all that were made ahead, whatever became of the agent: each fetch has one event of
 * its end, but an offer has none if its agent ends before its third later call. Telemetry of other
 * writers has no fetches; then it is the offers that are counted.
 */
function prefetchHit(counts: EffectivenessCounts): number | null {
  const { prefetches, cited, dispatched, served, joined, wasted } = counts
  const isComplete = dispatched > 0 && served + joined + wasted === dispatched
  if (isComplete) return share(served + joined, dispatched)
  return share(cited, Math.max(prefetches, dispatched))
}

/** The counters of events that are not 0, for a summary; `null` if all are 0. */
export function summarize(counts: EffectivenessCounts): Partial<EffectivenessCounts> | null {
  const counted = Object.entries(counts).filter(([, count]) => count !== 0)
  return counted.length === 0 ? null : Object.fromEntries(counted)
}

/** The seed's line for `# enrichment:`; `null` if all counters are 0. */
export function reportLine(counts: EffectivenessCounts): string | null {
  if (Object.values(counts).every(count => count === 0)) return null
  const { saved_prefetch, saved_dedup, saved_fail_fast } = counts
  const rates = Object.entries(ratesOf(counts)).map(([name, rate]) => `${name}=${percent(rate)}`)
  const saved = saved_prefetch + saved_dedup + saved_fail_fast
  return [
    ...rates,
    `calls_saved=${saved}`,
    `(prefetch=${saved_prefetch}, dedup=${saved_dedup}, fail_fast=${saved_fail_fast})`,
    `tokens_saved=${counts.tokens_saved}`,
    `prefetches=${counts.prefetches}`,
    `dispatched=${counts.dispatched}`,
    `declines=${counts.declines}`,
    `predictions=${counts.predictions}`,
  ].join(' ')
}

function share(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole
}

function percent(rate: number | null): string {
  return rate === null ? 'n/a' : `${(100 * rate).toFixed(1)}%`
}
