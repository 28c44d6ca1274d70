import { describe, expect, it } from 'vitest'
import { createRollup } from '../../../../src/core/telemetry/rollup.ts'
import { createEndpointSavings } from '../../../../src/core/telemetry/savings.ts'
import { sessionSummary } from '../../../../src/core/telemetry/summary.ts'
import { eventOf, HIT } from './events.ts'

const AHEAD = eventOf({
  enricher_prefetched: true,
  enricher_predicted_cost_tokens: 40,
  cited_in_next_n_turns: true,
  endpoint_class: 'offered',
  tokenizer: 'other',
  ts_ms: 9_000,
})
const DECLINED = eventOf({ enricher_decline_reason: 'budget', cited_in_next_n_turns: true })

// SOURCES.md#planner: `SessionSummary.enrichment`.
describe('events of offered calls', () => {
  it('are in no total', () => {
    const [totals, all] = [createEndpointSavings(), createEndpointSavings()]
    for (const event of [eventOf(), eventOf(HIT)]) totals.add(event)
    for (const event of [eventOf(), AHEAD, eventOf(HIT), DECLINED]) all.add(event)
    expect(all.groups()).toEqual(totals.groups())
  })

  it('change nothing of a summary but its times and `enrichment`', () => {
    const [totals, all] = [createRollup(), createRollup()]
    for (const event of [eventOf(), eventOf(HIT)]) totals.add(event)
    for (const event of [AHEAD, eventOf(), DECLINED, eventOf(HIT)]) all.add(event)
    const dedup = { saved_dedup: 1, tokens_saved: 100 }
    expect(totals.summary('0')?.enrichment).toEqual(dedup)
    expect(all.summary('0')).toEqual({
      ...totals.summary('0'),
      ended_at_ms: 9_000,
      duration_sec: 8,
      enrichment: {
        ...{ prefetches: 1, cited: 1, saved_prefetch: 1, declines: 1, late_invoked: 1 },
        ...{ predictions: 1, overruns: 1, saved_dedup: 1, tokens_saved: 200 },
      },
    })
  })

  it('make a valid summary alone, and results without any none of `enrichment`', () => {
    const alone = createRollup()
    alone.add(AHEAD)
    const summary = alone.summary('0')
    expect(sessionSummary.safeParse(summary).data).toEqual(summary)
    expect(summary).toMatchObject({ total_events: 0, dedup_hit_rate: 0, avg_response_chars: 0 })
    const plain = createRollup()
    plain.add(eventOf())
    expect(plain.summary('0')).not.toHaveProperty('enrichment')
  })
})
