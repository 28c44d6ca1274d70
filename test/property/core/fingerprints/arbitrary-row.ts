import fc from 'fast-check'
import { INNER_FORMATS } from '../../../../src/core/classify/inner-formats.ts'
import type { Fingerprint } from '../../../../src/core/fingerprints/fingerprint.ts'
import { SHAPES } from '../../../../src/core/telemetry/event.ts'
import { DAY, NOW, row } from '../../../unit/fingerprints/rows.ts'

const ENDPOINTS = ['curl', 'git_log', 'npm_test', 'mcp__p1a2b3c__get_issue', 'Read', '__proto__']

/** Shares of hundredths that add up to 1. */
const mix = fc
  .uniqueArray(fc.constantFrom(...SHAPES), { minLength: 1, maxLength: 4 })
  .chain(shapes =>
    fc
      .array(fc.integer({ min: 1, max: 99 }), {
        minLength: shapes.length,
        maxLength: shapes.length,
      })
      .map(parts => {
        const sum = parts.reduce((total, part) => total + part, 0)
        return Object.fromEntries(shapes.map((shape, index) => [shape, parts[index]! / sum]))
      }),
  )

const share = fc.integer({ min: 0, max: 1_000 }).map(value => value / 1_000)
const mean = fc.integer({ min: 0, max: 1e7 }).map(value => value / 100)

/** Rows that are admitted on their own, of a few endpoints. */
export const arbitraryRow: fc.Arbitrary<Fingerprint> = fc
  .record({
    endpoint_class: fc.constantFrom(...ENDPOINTS),
    source_sessions: fc.integer({ min: 5, max: 500 }),
    calls: fc.nat(10_000),
    avg_response_chars: mean,
    shape_mix: mix,
    dup_rate: share,
    inner_formats_top3: fc.uniqueArray(fc.constantFrom(...INNER_FORMATS), { maxLength: 3 }),
    avg_cols: fc.option(mean),
    avg_rows: fc.option(mean),
    key_stability_mean: fc.option(share),
    first: fc.nat(29 * DAY),
    lasts: fc.nat(10 * DAY),
  })
  .map(({ calls, first, lasts, ...fields }) =>
    row({
      ...fields,
      call_count: fields.source_sessions + calls,
      first_seen_ms: NOW - 29 * DAY + first,
      last_seen_ms: Math.min(NOW, NOW - 29 * DAY + first + lasts),
    }),
  )
