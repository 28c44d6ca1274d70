import { addEvent, noEffectiveness, summarize } from './effectiveness.ts'
import { BASELINE, isOffer, TELEMETRY_SCHEMA_VERSION, type TelemetryEvent } from './event.ts'
import { addSavings, noSavings, savingsOf } from './savings.ts'
import { ENDPOINTS_IN_SUMMARY, type SessionSummary } from './summary.ts'

/** A session on its way to its summary. */
export interface Rollup {
  /** Events of one session and one sampling rate, in any order. */
  add(event: TelemetryEvent): void
  /**
   * The summary of the events so far; `null` without an event. @param segment names the file that
   * the events are in
   */
  summary(segment: string): SessionSummary | null
}

/** Several tokenizers counted, so that sums mix their tokens. */
const MIXED = 'mixed'
/** Endpoints that are counted: more are the work of a client that makes up names. */
const MAX_ENDPOINTS = 1_000

/** Sums up the events of one session, in memory that does not grow with their number. */
export function createRollup(): Rollup {
  const sums = noSavings()
  const effectiveness = noEffectiveness()
  const layers = { L0: 0, L1: 0, L2: 0, L3: 0 }
  const endpoints = new Map<string, number>()
  let first: TelemetryEvent | undefined
  let tokenizer = ''
  let bytes = 0
  let partition = 0
  let started = Number.POSITIVE_INFINITY
  let ended = 0

  function countEndpoint(endpoint: string): void {
    const count = endpoints.get(endpoint)
    if (count !== undefined || endpoints.size < MAX_ENDPOINTS) {
      endpoints.set(endpoint, (count ?? 0) + 1)
    }
  }

  return {
    add(event) {
      first ??= event
      addEvent(effectiveness, event)
      started = Math.min(started, event.ts_ms)
      ended = Math.max(ended, event.ts_ms)
      if (isOffer(event)) return
      tokenizer = tokenizer === '' || tokenizer === event.tokenizer ? event.tokenizer : MIXED
      addSavings(sums, event, 1)
      layers[event.layer_used]++
      countEndpoint(event.endpoint_class)
      bytes += event.response_chars
      partition = Math.max(partition, event.context_partition)
    },
    summary(segment) {
      if (first === undefined) return null
      const events = sums.results
      // A segment may hold nothing but offers.
      const mean = (sum: number) => (events === 0 ? 0 : sum / events)
      const enrichment = summarize(effectiveness)
      const savings = savingsOf(sums)
      return {
        schema_version: TELEMETRY_SCHEMA_VERSION,
        segment,
        session_hash: first.session_hash,
        total_events: events,
        dedup_hit_rate: mean(layers.L0),
        l1_hit_rate: mean(layers.L1),
        l2_hit_rate: mean(layers.L2),
        avg_response_chars: mean(bytes),
        compaction_count: partition,
        endpoint_mix: mostUsed(endpoints),
        tokenizer: tokenizer || first.tokenizer,
        baseline: BASELINE,
        total_baseline_tokens: sums.baseline,
        total_final_tokens: sums.final,
        savings_pct: savings.combined ?? 0,
        dedup_savings_pct: savings.dedup ?? 0,
        encoder_savings_pct: savings.encoder ?? 0,
        omission_savings_pct: savings.omission ?? 0,
        duration_sec: (ended - started) / 1000,
        started_at_ms: started,
        ended_at_ms: ended,
        sample_rate_applied: first.sample_rate_applied,
        ...(enrichment === null ? {} : { enrichment }),
      }
    },
  }
}

/** In order of use, and of their names if that is the same. */
function mostUsed(endpoints: ReadonlyMap<string, number>): Record<string, number> {
  const sorted = [...endpoints].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  return Object.fromEntries(sorted.slice(0, ENDPOINTS_IN_SUMMARY))
}
