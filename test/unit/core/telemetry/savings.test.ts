import { describe, expect, it } from 'vitest'
import { createRepeats } from '../../../../src/core/telemetry/repeats.ts'
import { createRollup } from '../../../../src/core/telemetry/rollup.ts'
import {
  addSavings,
  createEndpointSavings,
  noSavings,
  savingsOf,
} from '../../../../src/core/telemetry/savings.ts'
import { sessionSummary } from '../../../../src/core/telemetry/summary.ts'
import { eventOf, HIT } from './events.ts'

describe('savings', () => {
  it('takes encoder and omission of what got no reference', () => {
    const sums = noSavings()
    addSavings(sums, eventOf(HIT), 1)
    addSavings(sums, eventOf(), 1)
    addSavings(
      sums,
      eventOf({
        tokens_baseline: 300,
        tokens_final: 200,
        encoder_tokens_saved: 30,
        elided_tokens_saved: 70,
      }),
      1,
    )
    expect(savingsOf(sums)).toEqual({
      dedup: 90 / 500,
      encoder: 80 / 400,
      omission: 70 / 400,
      combined: 240 / 500,
      hitShare: 100 / 500,
    })
  })

  it('has no shares of nothing', () => {
    const none = { dedup: null, encoder: null, omission: null, combined: null, hitShare: null }
    expect(savingsOf(noSavings())).toEqual(none)
    const onlyHits = noSavings()
    addSavings(onlyHits, eventOf(HIT), 1)
    expect(savingsOf(onlyHits)).toMatchObject({ dedup: 0.9, encoder: null, combined: 0.9 })
  })

  it('are apart by tokenizer, and scaled by the sampling rate', () => {
    const savings = createEndpointSavings()
    savings.add(eventOf({ sample_rate_applied: 0.25 }))
    savings.add(eventOf({ endpoint_class: 'git_log' }))
    savings.add(eventOf({ tokenizer: 'cl100k_base' }))
    const groups = savings.groups()
    expect(groups.map(({ tokenizer }) => tokenizer)).toEqual(['cl100k_base', 'o200k_base'])
    expect(groups[1]?.total).toMatchObject({ results: 5, baseline: 500, final: 250 })
    expect(groups[1]?.endpoints.map(({ endpoint, sums }) => [endpoint, sums.results])).toEqual([
      ['Read', 4],
      ['git_log', 1],
    ])
  })
})

describe('the summary of a session', () => {
  it('has all fields of the seed', () => {
    const rollup = createRollup()
    expect(rollup.summary('00')).toBeNull()
    rollup.add(eventOf({ ts_ms: 5_000 }))
    rollup.add(eventOf({ ...HIT, ts_ms: 3_000, context_partition: 2, response_chars: 200 }))
    rollup.add(eventOf({ layer_used: 'L1', template_id: 'md', ts_ms: 4_500 }))
    rollup.add(
      eventOf({
        layer_used: 'L3',
        endpoint_class: 'ls',
        tokens_final: 100,
        encoder_tokens_saved: 0,
        ts_ms: 4_000,
      }),
    )
    const summary = rollup.summary('00')
    expect(summary).toEqual({
      schema_version: 1,
      segment: '00',
      enrichment: { saved_dedup: 1, tokens_saved: 100 },
      session_hash: '0123456789abcdef',
      total_events: 4,
      dedup_hit_rate: 0.25,
      l1_hit_rate: 0.25,
      l2_hit_rate: 0.25,
      avg_response_chars: 350,
      compaction_count: 2,
      endpoint_mix: { Read: 3, ls: 1 },
      tokenizer: 'o200k_base',
      baseline: 'raw',
      total_baseline_tokens: 400,
      total_final_tokens: 210,
      savings_pct: 190 / 400,
      dedup_savings_pct: 90 / 400,
      encoder_savings_pct: 100 / 300,
      omission_savings_pct: 0,
      duration_sec: 2,
      started_at_ms: 3_000,
      ended_at_ms: 5_000,
      sample_rate_applied: 1,
    })
    expect(sessionSummary.parse(summary)).toEqual(summary)
  })

  it('names the twenty most used endpoints, and says where tokenizers were mixed', () => {
    const rollup = createRollup()
    for (let i = 0; i < 30; i++) {
      for (let n = 0; n <= i; n++) rollup.add(eventOf({ endpoint_class: `e${i}` }))
    }
    rollup.add(eventOf({ tokenizer: 'cl100k_base' }))
    const { endpoint_mix = {}, tokenizer } = rollup.summary('00') ?? {}
    expect(Object.keys(endpoint_mix)).toEqual(Array.from({ length: 20 }, (_, i) => `e${29 - i}`))
    expect(tokenizer).toBe('mixed')
  })
})

describe('repeats', () => {
  it('counts the different results in between, within a partition', () => {
    const repeats = createRepeats()
    const next = (content: string, partition = 0) => repeats.next(content, partition)
    expect(['a', 'b', 'b', 'c', 'a', 'b'].map(content => next(content))).toEqual([
      undefined,
      undefined,
      0,
      undefined,
      2,
      2,
    ])
    expect(next('a', 1)).toBeUndefined()
    expect(next('a', 1)).toBe(0)
  })

  it('knows the call that comes again, whatever came in between', () => {
    const repeats = createRepeats()
    expect(repeats.isRetry('a', 'call')).toBe(false)
    expect(repeats.isRetry('a', 'other')).toBe(false)
    repeats.next('a', 1)
    expect(repeats.isRetry('a', 'call')).toBe(true)
    expect(repeats.isRetry('b', 'call')).toBe(false)
    for (let i = 0; i < 63; i++) repeats.isRetry('c', `${i}`)
    expect(repeats.isRetry('b', 'call')).toBe(true)
    expect(repeats.isRetry('a', 'other')).toBe(false)
  })

  it('forgets what is far back', () => {
    const repeats = createRepeats()
    for (let i = 0; i <= 256; i++) repeats.next(`${i}`, 0)
    expect(repeats.next('0', 0)).toBeUndefined()
    expect(repeats.next('3', 0)).toBe(254)
  })
})
