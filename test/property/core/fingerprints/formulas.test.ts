import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { INNER_FORMATS } from '../../../../src/core/classify/inner-formats.ts'
import type { EndpointEvent } from '../../../../src/core/fingerprints/event-sums.ts'
import {
  type Fingerprint,
  fingerprintSchema,
} from '../../../../src/core/fingerprints/fingerprint.ts'
import { SHAPES } from '../../../../src/core/telemetry/event.ts'
import { NO_SESSION } from '../../../../src/core/telemetry/pseudonyms.ts'
import { runs } from '../../../support/runs.ts'
import { collectorOf } from '../../../unit/fingerprints/rows.ts'

/** Rates of which every weight is a whole number, so that responses can be written out. */
const RATES = [1, 0.5, 0.25, 0.1, 0.01]
const START = Date.UTC(2026, 0, 1)

const event: fc.Arbitrary<EndpointEvent> = fc
  .record({
    session_hash: fc.constantFrom(NO_SESSION, ...['a', 'b', 'c', 'd'].map(name => name.repeat(16))),
    response_chars: fc.oneof(fc.nat(100), fc.nat(1e9)),
    shape: fc.constantFrom(...SHAPES),
    inner_formats: fc.uniqueArray(fc.constantFrom(...INNER_FORMATS), { maxLength: 5 }),
    ts_ms: fc.nat(40 * 86_400_000).map(ms => START + ms),
    sample_rate_applied: fc.constantFrom(...RATES),
    n_cols: fc.nat(30),
    n_rows: fc.nat(5_000),
    key_stability: fc.double({ min: 0, max: 1, noNaN: true }),
    repeat_burst: fc.option(fc.nat(10), { nil: undefined }),
  })
  .map(({ n_cols, n_rows, key_stability, repeat_burst, ...rest }) => ({
    endpoint_class: 'git_log',
    ...rest,
    ...(rest.shape === 'markdown_table' ? { n_cols, n_rows } : {}),
    ...(rest.shape === 'array_of_objects' ? { key_stability } : {}),
    ...(repeat_burst === undefined ? {} : { repeat_burst }),
  }))

/** The responses that events stand for, each by itself: no weights are left. */
function responsesOf(events: readonly EndpointEvent[]): EndpointEvent[] {
  return events.flatMap(each =>
    Array<EndpointEvent>(Math.round(1 / each.sample_rate_applied)).fill(each),
  )
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value / values.length, 0)
}

/**
 * How often each value stands in a list, those that stand most often first; of equals, in the order
 * of `all`.
 */
function ranked<T>(values: readonly T[], all: readonly T[]): [T, number][] {
  return all
    .map((each): [T, number] => [each, values.filter(value => value === each).length])
    .filter(([, count]) => count > 0)
    .sort((a, b) => b[1] - a[1] || all.indexOf(a[0]) - all.indexOf(b[0]))
}

/** By the table of docs/reference/telemetry.md, in the plainest way. */
function plain(events: readonly EndpointEvent[]): Fingerprint {
  const responses = responsesOf(events)
  const shapes = ranked(
    responses.map(each => each.shape),
    SHAPES,
  )
  const formats = ranked(
    responses.flatMap(each => each.inner_formats),
    INNER_FORMATS,
  )
  const shares = shapes.map(([shape, count]) => [shape, count / responses.length] as const)
  const tables = responses.filter(({ shape }) => shape === 'markdown_table')
  const lists = responses.filter(({ shape }) => shape === 'array_of_objects')
  const times = events.map(({ ts_ms }) => ts_ms)
  const sessions = new Set(
    events.map(each => each.session_hash).filter(name => name !== NO_SESSION),
  )
  return {
    endpoint_class: 'git_log',
    call_count: responses.length,
    avg_response_chars: mean(responses.map(each => each.response_chars))!,
    shape_dominant: shapes[0]![0],
    shape_mix: Object.fromEntries(shares),
    dup_rate: responses.filter(each => each.repeat_burst !== undefined).length / responses.length,
    format_entropy: shares.reduce((bits, [, share]) => bits + share * Math.log2(1 / share), 0),
    inner_formats_top3: formats.slice(0, 3).map(([format]) => format),
    avg_cols: mean(tables.map(each => each.n_cols!)),
    avg_rows: mean(tables.map(each => each.n_rows!)),
    key_stability_mean: mean(lists.map(each => each.key_stability!)),
    first_seen_ms: Math.min(...times),
    last_seen_ms: Math.max(...times),
    source_sessions: sessions.size,
  }
}

/** The same but for six decimal places, and what adding up in another order makes. */
function expectNear(actual: number | null, expected: number): void {
  expect(Math.abs((actual ?? Number.NaN) - expected)).toBeLessThan(1e-6 + 1e-9 * expected)
}

const ROUNDED = [
  'avg_response_chars',
  'dup_rate',
  'format_entropy',
  'avg_cols',
  'avg_rows',
  'key_stability_mean',
] as const

describe('the fingerprint of an endpoint', () => {
  it('is that of a plain model which writes every response out, whatever was sampled', () => {
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 40, size: 'max' }), events => {
        const collector = collectorOf([], START, events)
        const [found] = collector.endpoints()
        fingerprintSchema.parse(found)
        const { shape_mix, ...expected } = plain(events)
        const exact = Object.fromEntries(
          Object.entries(expected).filter(([name]) => !ROUNDED.some(each => each === name)),
        )
        expect(found).toMatchObject(exact)
        for (const name of ROUNDED) {
          if (expected[name] === null) expect(found![name]).toBeNull()
          else expectNear(found![name], expected[name]!)
        }
        expect(Object.keys(found!.shape_mix).sort()).toEqual(Object.keys(shape_mix).sort())
        for (const [shape, share] of Object.entries(shape_mix)) {
          expectNear(found!.shape_mix[shape as keyof typeof shape_mix] ?? 0, share!)
        }
      }),
      { numRuns: runs(100) },
    )
  })
})
