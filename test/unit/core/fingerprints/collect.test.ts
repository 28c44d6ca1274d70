import { describe, expect, it } from 'vitest'
import type { EndpointEvent } from '../../../../src/core/fingerprints/event-sums.ts'
import type { Fingerprint } from '../../../../src/core/fingerprints/fingerprint.ts'
import { BOUNDS, type HistogramName } from '../../../../src/core/fingerprints/histograms.ts'
import { NO_SESSION } from '../../../../src/core/telemetry/pseudonyms.ts'
import { collectorOf, DAY, NOW } from '../../fingerprints/rows.ts'

function event(overrides: Partial<EndpointEvent> = {}): EndpointEvent {
  return {
    endpoint_class: 'git_log',
    session_hash: 'a'.repeat(16),
    response_chars: 100,
    shape: 'prose',
    inner_formats: [],
    ts_ms: NOW,
    sample_rate_applied: 1,
    ...overrides,
  }
}

const session = (index: number) => index.toString(16).padStart(16, 'f')

/** One event of each of some sessions, an hour apart. */
function sessions(from: number, count: number, start: number): EndpointEvent[] {
  return Array.from({ length: count }, (_, index) =>
    event({ session_hash: session(from + index), ts_ms: start + index * 3_600_000 }),
  )
}

/** A histogram of these parts. */
function inBuckets(name: HistogramName, parts: Readonly<Record<number, number>>): number[] {
  return BOUNDS[name].map((_, bucket) => parts[bucket] ?? 0)
}

function endpoints(events: readonly EndpointEvent[]) {
  return collectorOf([], NOW, events).endpoints()
}

describe('fingerprints of events', () => {
  it('has every field of the seed, by its formula', () => {
    const [found] = endpoints([
      event({ response_chars: 100, inner_formats: ['url', 'log'], repeat_burst: 0 }),
      event({ response_chars: 300, inner_formats: ['log', 'hash'], ts_ms: NOW + 5 }),
      event({ shape: 'markdown_table', n_cols: 4, n_rows: 10, inner_formats: ['log', 'diff'] }),
      event({ shape: 'markdown_table', n_cols: 6, n_rows: 20, inner_formats: ['url', 'diff'] }),
    ])
    expect(found).toEqual({
      endpoint_class: 'git_log',
      call_count: 4,
      avg_response_chars: 150,
      shape_dominant: 'prose',
      shape_mix: { prose: 0.5, markdown_table: 0.5 },
      dup_rate: 0.25,
      format_entropy: 1,
      inner_formats_top3: ['log', 'url', 'diff'],
      avg_cols: 5,
      avg_rows: 15,
      key_stability_mean: null,
      first_seen_ms: NOW,
      last_seen_ms: NOW + 5,
      source_sessions: 1,
      repeat_burst: inBuckets('repeat_burst', { 0: 10_000 }),
      response_chars: inBuckets('response_chars', { 2: 7_500, 5: 2_500 }),
      ...{ elided: 0, retrieved: 0, needed: 0 },
    })
  })

  it('is not made of calls that were only offered', () => {
    const left = event({ response_chars: 100 })
    const ahead = event({ response_chars: 900, enricher_prefetched: true })
    const declined = event({ response_chars: 900, enricher_decline_reason: 'budget' })
    expect(endpoints([left, ahead, declined])).toEqual(endpoints([left]))
  })

  it('lets an event stand for those that its sampling left out, and never scales sessions', () => {
    const [found] = endpoints([
      event({
        sample_rate_applied: 0.1,
        response_chars: 1000,
        shape: 'array_of_objects',
        key_stability: 0.5,
      }),
      event({ sample_rate_applied: 1, response_chars: 0, session_hash: session(1) }),
    ])
    expect(found).toMatchObject({
      call_count: 11,
      avg_response_chars: 909.090909,
      shape_dominant: 'array_of_objects',
      key_stability_mean: 0.5,
      source_sessions: 2,
    })
  })

  it('rounds what events stand for', () => {
    const events = [0, 1].map(() => event({ sample_rate_applied: 0.7 }))
    expect(endpoints(events)[0]).toMatchObject({ call_count: 3 })
  })

  it('does not take results of no session for a session', () => {
    expect(endpoints([event({ session_hash: NO_SESSION })])[0]).toMatchObject({
      call_count: 1,
      source_sessions: 0,
    })
  })
})

describe('spans that may be shared', () => {
  const LATER = NOW + 20 * DAY
  const collect = (closed: readonly Fingerprint[], events: EndpointEvent[], now = LATER) => {
    const collector = collectorOf(closed, now, events)
    return collector.closable()
  }

  it('closes the first with five sessions, and none with four', () => {
    expect(collect([], sessions(0, 4, NOW))).toEqual([])
    expect(collect([], [...sessions(0, 4, NOW), event({ session_hash: NO_SESSION })])).toEqual([])
    expect(collect([], sessions(0, 5, NOW))).toMatchObject([{ source_sessions: 5, call_count: 5 }])
  })

  it('gives times of whole days, and takes none that is not over', () => {
    const late = sessions(0, 7, NOW + 20 * 3_600_000)
    expect(collect([], late)).toMatchObject([
      { first_seen_ms: NOW, last_seen_ms: NOW + DAY, source_sessions: 7 },
    ])
    const noon = NOW + 1.5 * DAY
    expect(collect([], late, noon)).toEqual([])
    const early = sessions(10, 5, NOW + DAY - 5 * 3_600_000)
    expect(collect([], [...early, ...late], noon)).toMatchObject([
      { first_seen_ms: NOW, last_seen_ms: NOW, source_sessions: 9 },
    ])
  })

  it('says nothing of tables, lists and formats that fewer than five sessions have', () => {
    const shaped = (count: number) => [
      ...sessions(0, count, NOW).map(each => ({
        ...each,
        shape: 'markdown_table' as const,
        n_cols: 4,
        n_rows: 9,
        inner_formats: ['url' as const],
      })),
      ...sessions(0, count, NOW).map(each => ({
        ...each,
        shape: 'array_of_objects' as const,
        key_stability: 0.5,
      })),
      ...sessions(0, 6, NOW),
    ]
    const none = { avg_cols: null, avg_rows: null, key_stability_mean: null }
    expect(collect([], shaped(4))).toMatchObject([{ ...none, inner_formats_top3: [] }])
    expect(collect([], shaped(5))).toMatchObject([
      { avg_cols: 4, avg_rows: 9, key_stability_mean: 0.5, inner_formats_top3: ['url'] },
    ])
  })

  it('tells only buckets that five sessions have, and no histogram with one', () => {
    const sized = (from: number, count: number, response_chars: number) =>
      sessions(from, count, NOW).map(each => ({ ...each, response_chars, repeat_burst: 1 }))
    const [span] = collect([], [...sized(0, 6, 100), ...sized(10, 5, 900), ...sized(20, 4, 90_000)])
    // Four sessions join the next smaller bucket, so nothing tells how large theirs are.
    expect(span!.response_chars).toEqual(inBuckets('response_chars', { 2: 4_000, 8: 6_000 }))
    expect(span!.repeat_burst).toBeUndefined()
    const [few] = collect([], [...sized(0, 6, 100), ...sized(10, 4, 900)])
    expect(few!.response_chars).toBeUndefined()
  })

  it('tells what was left out, fetched or quoted of five sessions, and nothing of fewer', () => {
    const events = (count: number) => [
      ...sessions(0, 10, NOW).map(each => ({ ...each, elided_tokens_saved: 40 })),
      ...sessions(0, count, NOW).map(each => ({
        ...each,
        endpoint_class: 'Edit',
        needed_of: ['git_log'],
        retrieved_of: ['git_log', 'git_log'],
      })),
    ]
    const of = (count: number) => {
      const found = collect([], events(count)).find(each => each.call_count === 10)
      return [found!.elided, found!.needed, found!.retrieved]
    }
    expect(of(5)).toEqual([1, 0.5, 1])
    for (const count of [0, 4]) expect(of(count)).toEqual([1, undefined, undefined])
    const own = endpoints(events(1))
    expect(own.map(each => [each.endpoint_class, each.elided, each.needed])).toEqual([
      ['Edit', 0, 0],
      ['git_log', 1, 0.1],
    ])
    // An endpoint of which nothing else is known has no fingerprint.
    expect(endpoints([event({ needed_of: ['curl'] })]).map(each => each.call_count)).toEqual([1])
  })

  it('never changes a closed one, whatever comes', () => {
    const first = collect([], sessions(0, 6, NOW))
    const late = sessions(40, 9, NOW + 1)
    expect(collect(first, [...sessions(0, 6, NOW), ...late])).toEqual([])
  })

  it('closes the next when it has lasted a week and five sessions that were in none before', () => {
    const first = collect([], sessions(0, 6, NOW))
    const known = sessions(0, 6, NOW)
    const soon = sessions(10, 5, NOW + 6 * DAY)
    expect(collect(first, [...known, ...soon])).toEqual([])
    // Five sessions again, but one of them has been counted.
    const old = sessions(5, 5, NOW + 7 * DAY)
    expect(collect(first, [...known, ...old])).toEqual([])
    const later = sessions(10, 5, NOW + 7 * DAY)
    expect(collect(first, [...known, ...later])).toMatchObject([
      { first_seen_ms: NOW + 7 * DAY, source_sessions: 5 },
    ])
  })

  it('keeps endpoints apart, and gives them by name', () => {
    const other = sessions(0, 5, NOW).map(each => ({ ...each, endpoint_class: 'curl' }))
    const names = collect([], [...sessions(0, 5, NOW), ...other]).map(each => each.endpoint_class)
    expect(names).toEqual(['curl', 'git_log'])
  })
})
