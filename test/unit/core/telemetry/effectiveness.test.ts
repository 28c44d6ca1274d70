import { describe, expect, it } from 'vitest'
import {
  addEvent,
  type EffectivenessCounts,
  type EnrichmentEvent,
  noEffectiveness,
  ratesOf,
  reportLine,
} from '../../../../src/core/telemetry/effectiveness.ts'

const plain: EnrichmentEvent = { is_dedup_hit: false, tokens_baseline: 100 }

function countsOf(...events: readonly Partial<EnrichmentEvent>[]): EffectivenessCounts {
  const counts = noEffectiveness()
  for (const event of events) addEvent(counts, { ...plain, ...event })
  return counts
}

const changed = (counts: EffectivenessCounts) =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0))

// SOURCES.md#planner, "Adaptive tuning + effectiveness metric" and "Inference calls saved".
describe('effectiveness', () => {
  it('is nothing without activity, and then has no line', () => {
    const counts = countsOf({}, {})
    expect(changed(counts)).toEqual({})
    expect(reportLine(counts)).toBeNull()
    expect(Object.values(ratesOf(counts))).toEqual([null, null, null, null, null])
  })

  it.each<[string, Partial<EnrichmentEvent>, object]>([
    ['a prefetch', { enricher_prefetched: true }, { prefetches: 1 }],
    [
      'a cited prefetch',
      { enricher_prefetched: true, cited_in_next_n_turns: true },
      { prefetches: 1, cited: 1, saved_prefetch: 1, tokens_saved: 100 },
    ],
    ['a citation without a prefetch', { cited_in_next_n_turns: true }, {}],
    ['a reference', { is_dedup_hit: true }, { saved_dedup: 1, tokens_saved: 100 }],
    ['a decline', { enricher_decline_reason: 'budget' }, { declines: 1 }],
    [
      'a decline that was needed',
      { enricher_decline_reason: 'budget', cited_in_next_n_turns: true },
      { declines: 1, late_invoked: 1 },
    ],
    ['a good prediction', { enricher_predicted_cost_tokens: 77 }, { predictions: 1 }],
    ['an overrun', { enricher_predicted_cost_tokens: 76 }, { predictions: 1, overruns: 1 }],
    ['no prediction', { enricher_predicted_cost_tokens: 0 }, {}],
  ])('counts %s', (_, event, expected) => {
    expect(changed(countsOf(event))).toEqual(expected)
  })

  it('counts calls that were refused, by what they were expected to take', () => {
    const counts = countsOf(
      { enricher_unsent: 'fail_fast', tokens_baseline: 30 },
      { enricher_unsent: 'fail_fast', tokens_baseline: 4 },
      { enricher_unsent: 'unchanged' },
    )
    expect(changed(counts)).toEqual({ saved_fail_fast: 2, tokens_saved: 34, unchanged: 1 })
    expect(reportLine(counts)).toContain('prefetch_hit=n/a ')
  })

  it('counts fetches and what became of them', () => {
    const counts = countsOf(
      { enricher_fetch: 'served', response_chars: 5, enricher_saved_ms: 9 },
      { enricher_fetch: 'joined', response_chars: 5, enricher_saved_ms: 7 },
      { enricher_fetch: 'wasted', response_chars: 5, enricher_saved_ms: 0 },
      { enricher_fetch: 'wasted', enricher_predicted_cost_tokens: 90 },
    )
    expect(changed(counts)).toEqual({
      ...{ dispatched: 4, served: 1, joined: 1, wasted: 2, wasted_bytes: 5, saved_ms: 16 },
      predictions: 1,
    })
    expect(ratesOf(counts)).toMatchObject({ race_win: 0.25, waste: 0.5 })
  })

  it('is used of all calls ahead, also of agents that ended before their offers were decided', () => {
    const used = { enricher_prefetched: true, cited_in_next_n_turns: true }
    const events = (count: number, event: Partial<EnrichmentEvent>) =>
      Array.from({ length: count }, () => event)
    const counts = countsOf(
      ...events(11, { enricher_fetch: 'served' }),
      ...events(22, { enricher_fetch: 'wasted' }),
      ...events(11, used),
    )
    expect(ratesOf(counts).prefetch_hit).toBe(11 / 33)
    expect(ratesOf(countsOf(...events(11, used))).prefetch_hit).toBe(1)
  })

  // The line of the seed, under `# enrichment:`.
  it("prints the seed's line", () => {
    const counts = {
      ...noEffectiveness(),
      ...{ prefetches: 412, cited: 297, declines: 187, late_invoked: 16 },
      ...{ predictions: 599, overruns: 66, dispatched: 398, served: 231, wasted: 48 },
      ...{ saved_prefetch: 42, saved_dedup: 39, saved_fail_fast: 8, tokens_saved: 128_400 },
    }
    expect(reportLine(counts)).toBe(
      'prefetch_hit=72.1% decline_recall_loss=8.6% cost_overrun=11.0% race_win=58.0% waste=12.1% calls_saved=89 (prefetch=42, dedup=39, fail_fast=8) tokens_saved=128400 prefetches=412 dispatched=398 declines=187 predictions=599',
    )
  })
})
