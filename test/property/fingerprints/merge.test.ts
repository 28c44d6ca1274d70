import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Fingerprint, fingerprintSchema } from '../../../src/core/fingerprints/fingerprint.ts'
import { mergeUploads } from '../../../src/core/fingerprints/merge-uploads.ts'
import { readRecord, writeRecord } from '../../../src/core/fingerprints/upload-record.ts'
import { fingerprintsToParquet } from '../../../src/fingerprints/parquet-file.ts'
import { fingerprintsIn } from '../../../src/fingerprints/span-file.ts'
import { runs } from '../../support/runs.ts'
import { DAY, NOW } from '../../unit/fingerprints/rows.ts'
import { arbitraryRow } from '../core/fingerprints/arbitrary-row.ts'

const uploads = fc.array(
  fc.record({
    rows: fc.array(arbitraryRow, { maxLength: 12 }),
    age: fc.integer({ min: 0, max: 35 }),
  }),
  { maxLength: 8 },
)
type Uploads = readonly { readonly rows: readonly Fingerprint[]; readonly age: number }[]

/** A mean weighted as told, by the plainest way. */
function mean(
  rows: readonly Fingerprint[],
  of: (row: Fingerprint) => number | null,
  weight: (row: Fingerprint) => number,
) {
  const known = rows.filter(row => of(row) !== null && weight(row) > 0)
  const total = known.reduce((sum, row) => sum + weight(row), 0)
  if (total === 0) return null
  return known.reduce((sum, row) => sum + weight(row) * (of(row) ?? 0), 0) / total
}

/** What the merge of one endpoint should be. */
function plain(rows: readonly Fingerprint[]) {
  const sessions = (row: Fingerprint) => row.source_sessions
  const tables = (row: Fingerprint) => sessions(row) * (row.shape_mix.markdown_table ?? 0)
  const lists = (row: Fingerprint) => sessions(row) * (row.shape_mix.array_of_objects ?? 0)
  return {
    source_sessions: rows.reduce((sum, row) => sum + row.source_sessions, 0),
    call_count: rows.reduce((sum, row) => sum + row.call_count, 0),
    first_seen_ms: dayOf(Math.min(...rows.map(row => row.first_seen_ms))),
    last_seen_ms: dayOf(Math.max(...rows.map(row => row.last_seen_ms))),
    avg_response_chars: mean(rows, row => row.avg_response_chars, sessions),
    dup_rate: mean(rows, row => row.dup_rate, sessions),
    avg_cols: mean(rows, row => row.avg_cols, tables),
    key_stability_mean: mean(rows, row => row.key_stability_mean, lists),
    prose: mean(rows, row => row.shape_mix.prose ?? 0, sessions),
  }
}

function dayOf(moment: number): number {
  return Math.floor(moment / DAY) * DAY
}

function expectClose(actual: number | null, expected: number | null): void {
  if (expected === null) expect(actual).toBeNull()
  else expect(actual).toBeCloseTo(expected, 5)
}

describe('the merge', () => {
  it('is that of a plain model, whoever of the members comes first', () => {
    fc.assert(
      fc.property(uploads, all => {
        const { fingerprints, changesAt } = merge(all)
        const live = all.filter(({ age }) => age < 30)
        const names = new Set(live.flatMap(({ rows }) => rows.map(row => row.endpoint_class)))
        expect(new Set(fingerprints.map(each => each.endpoint_class))).toEqual(names)
        for (const found of fingerprints) {
          const of = (least: number, most: number) =>
            live
              .filter(({ age }) => age >= least && age < most)
              .flatMap(({ rows }) => rows)
              .filter(row => row.endpoint_class === found.endpoint_class)
          const fresh = of(0, 14)
          expect(found.stale).toBe(fresh.length === 0)
          const { prose, avg_response_chars, dup_rate, avg_cols, key_stability_mean, ...exact } =
            plain(found.stale ? of(14, 30) : fresh)
          expect(found).toMatchObject(exact)
          expectClose(found.avg_response_chars, avg_response_chars)
          expectClose(found.dup_rate, dup_rate)
          expectClose(found.avg_cols, avg_cols)
          expectClose(found.key_stability_mean, key_stability_mean)
          expectClose(found.shape_mix.prose ?? 0, prose)
          fingerprintSchema.parse(found)
        }
        expect(fingerprints.map(({ stale }) => stale)).toEqual(
          fingerprints.map(({ stale }) => stale).sort((a, b) => Number(a) - Number(b)),
        )
        expect(changesAt).toBeGreaterThan(NOW)
        const backwards = merge([...all].reverse()).fingerprints
        expect(backwards.map(each => each.endpoint_class)).toEqual(
          fingerprints.map(each => each.endpoint_class),
        )
      }),
      { numRuns: runs(200) },
    )
  })

  it('never has an endpoint of fewer than five sessions', () => {
    fc.assert(
      fc.property(uploads, all => {
        for (const { source_sessions } of merge(all).fingerprints) {
          expect(source_sessions).toBeGreaterThanOrEqual(5)
        }
      }),
    )
  })
})

function merge(all: Uploads) {
  return mergeUploads(
    all.map(({ rows, age }) => rows.map(row => ({ row, at: NOW - age * DAY }))),
    NOW,
  )
}

describe('rows', () => {
  it('come back from a record and from Parquet as they were', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(arbitraryRow, { maxLength: 20 }), async rows => {
        const uploaded = rows.map(row => ({ row, at: NOW }))
        const record = { member: 'ada', withdrawn: false, rows: uploaded, spans: [] }
        expect(readRecord(writeRecord(record))).toEqual(record)
        expect(await fingerprintsIn(fingerprintsToParquet(rows))).toEqual(rows)
      }),
      { numRuns: runs(60) },
    )
  })
})
