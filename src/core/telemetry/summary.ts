import { z } from 'zod'
import { type EffectivenessCounts, noEffectiveness } from './effectiveness.ts'
import {
  anonymous,
  BASELINE,
  figure,
  hexDigits,
  instant,
  sampleRate,
  share,
  TELEMETRY_SCHEMA_VERSION,
} from './event.ts'

/** Endpoints that a summary names, the most used first. */
export const ENDPOINTS_IN_SUMMARY = 20

/** The counters of the enricher. */
const COUNTERS = Object.keys(noEffectiveness()) as (keyof EffectivenessCounts)[]

/** A share that may be negative: hints can cost more than they save. */
const savedShare = z.number().max(1)

/**
 * Properties of a session: the per-session summary of SOURCES.md#formats, one line of JSON for each
 * file of events. All figures are of the events that were written, and not scaled: divide counts
 * and sums by `sample_rate_applied`.
 */
export const sessionSummary = z.object({
  schema_version: z.literal(TELEMETRY_SCHEMA_VERSION),
  /** Names the file of events that this is of; a line that comes again with it is the same one. */
  segment: z.string().regex(/^[0-9a-f-]{1,64}$/),
  session_hash: hexDigits(16),
  total_events: figure,
  dedup_hit_rate: share,
  l1_hit_rate: share,
  l2_hit_rate: share,
  /** UTF-8 bytes. */
  avg_response_chars: z.number().min(0).max(1e12),
  /** The highest partition. */
  compaction_count: figure,
  /** Events by endpoint class, of the 20 most used. */
  endpoint_mix: z.record(anonymous, figure),
  /** `mixed` if several counted; then percentages mean little. */
  tokenizer: anonymous,
  baseline: z.literal(BASELINE),
  total_baseline_tokens: figure,
  total_final_tokens: figure,
  savings_pct: savedShare,
  /** By the rule of `savingsOf`, as shares of 1. */
  dedup_savings_pct: savedShare,
  encoder_savings_pct: savedShare,
  omission_savings_pct: savedShare,
  duration_sec: z.number().min(0).max(8.64e12),
  started_at_ms: instant,
  ended_at_ms: instant,
  sample_rate_applied: sampleRate,
  /**
   * What calls ahead and references brought (SOURCES.md#planner); counters that are 0 are absent.
   */
  enrichment: z.partialRecord(z.enum(COUNTERS), figure).optional(),
})

export type SessionSummary = z.output<typeof sessionSummary>
