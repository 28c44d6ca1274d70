import fc from 'fast-check'
import { expect, it } from 'vitest'
import { INNER_FORMATS } from '../../../../src/core/classify/inner-formats.ts'
import { createCollector } from '../../../../src/core/fingerprints/collect.ts'
import { createDays, readReport, writeReport } from '../../../../src/core/fingerprints/day-rows.ts'
import type { EndpointEvent } from '../../../../src/core/fingerprints/event-sums.ts'
import { DAY_MS, type Fingerprint } from '../../../../src/core/fingerprints/fingerprint.ts'
import { NO_SESSION } from '../../../../src/core/telemetry/pseudonyms.ts'
import { leastHits, runs } from '../../../support/runs.ts'
import { collectorOf } from '../../../unit/fingerprints/rows.ts'

const START = Date.UTC(2026, 0, 1)
const DAYS = 12

/** Numbers of which sums are exact in any order. */
const event: fc.Arbitrary<EndpointEvent> = fc.record({
  endpoint_class: fc.constantFrom('git_log', 'ls'),
  session_hash: fc.oneof(
    fc.constant(NO_SESSION),
    fc.nat(14).map(session => session.toString(16).padStart(16, 'f')),
  ),
  response_chars: fc.nat(1_000),
  shape: fc.constantFrom('prose', 'markdown_table', 'array_of_objects'),
  inner_formats: fc.uniqueArray(fc.constantFrom(...INNER_FORMATS.slice(0, 3)), { maxLength: 2 }),
  ts_ms: fc.nat(DAYS * DAY_MS - 1).map(ms => START + ms),
  sample_rate_applied: fc.constantFrom(1, 0.5),
  n_cols: fc.nat(30),
  n_rows: fc.nat(30),
  key_stability: fc.constantFrom(0, 0.25, 1),
  repeat_burst: fc.option(fc.nat(10), { nil: undefined }),
  depth: fc.option(fc.nat(2), { nil: undefined }),
  elided_tokens_saved: fc.constantFrom(0, 9),
  needed_of: fc.constantFrom(undefined, ['ls'], ['ls', 'git_log', 'cat']),
  retrieved_of: fc.constantFrom(undefined, ['git_log']),
}) as fc.Arbitrary<EndpointEvent>

const RUNS = runs(200)

it('rows of several processes add up to what one has that saw all events', () => {
  let spans = 0
  let told = 0
  fc.assert(
    fc.property(
      fc.array(fc.tuple(event, fc.nat(2)), { minLength: 20, maxLength: 120, size: 'max' }),
      fc.integer({ min: 8, max: DAYS }),
      (events, days) => {
        const now = START + days * DAY_MS
        let closed: readonly Fingerprint[] = []
        // The second time some spans are closed.
        for (const at of [now, now + 2 * DAY_MS]) {
          const one = collectorOf(
            closed,
            at,
            events.map(([each]) => each),
          )
          const parts = [0, 1, 2].map(() => createDays())
          for (const [each, process] of events) parts[process]!.add(each)
          const all = createCollector(closed, at)
          for (const part of parts) {
            const report = readReport(writeReport({ rows: part.rows(), spans: closed }))!
            expect(report.spans).toEqual(closed)
            for (const row of report.rows) all.add(row)
          }
          expect(all.endpoints()).toEqual(one.endpoints())
          expect(all.closable()).toEqual(one.closable())
          closed = one.closable()
          spans += closed.length
          told += closed.filter(
            each => each.needed !== undefined && each.depth !== undefined,
          ).length
        }
      },
    ),
    { numRuns: RUNS },
  )
  expect(spans).toBeGreaterThan(leastHits(20))
  expect(told).toBeGreaterThanOrEqual(leastHits(RUNS * 0.2))
})
