import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { afterAll, describe, expect, it } from 'vitest'
import { BOUNDS } from '../../../src/core/fingerprints/histograms.ts'
import {
  fingerprintsToParquet,
  LATER_COLUMNS,
  mergedToParquet,
  readParquet,
} from '../../../src/fingerprints/parquet-file.ts'
import { fingerprintsIn } from '../../../src/fingerprints/span-file.ts'
import { FULL_RUNS } from '../../support/runs.ts'
import { row } from './rows.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-parquet-'))
afterAll(() => rmSync(folder, { recursive: true }))

const told = {
  repeat_burst: BOUNDS.repeat_burst.map((_, bucket) => (bucket < 2 ? 5_000 : 0)),
  ...{ elided: 0.5, needed: 0.25 },
}

const rows = [
  row(told),
  row({ endpoint_class: 'curl', key_stability_mean: 0.5, avg_cols: null, avg_rows: null }),
  row({ endpoint_class: 'Read', inner_formats_top3: [], shape_mix: { prose: 1 } }),
]

/** What another implementation reads of a file, or writes. */
async function duckdb(query: string) {
  const connection = await (await DuckDBInstance.create(':memory:')).connect()
  return (await connection.runAndReadAll(query)).getRowObjectsJson()
}

describe('a Parquet file of fingerprints', () => {
  it('has the same rows for another implementation', async () => {
    const file = join(folder, 'endpoints.parquet')
    writeFileSync(file, fingerprintsToParquet(rows))
    const found = await duckdb(`SELECT * FROM '${file}'`)
    const none = { response_chars: null, depth: null, retrieved: null }
    const expected = rows.map(({ shape_mix, ...fields }) => ({
      ...{ repeat_burst: null, ...none, elided: null, needed: null },
      ...fields,
      call_count: String(fields.call_count),
      first_seen_ms: String(fields.first_seen_ms),
      last_seen_ms: String(fields.last_seen_ms),
      source_sessions: String(fields.source_sessions),
      shape_mix: Object.entries(shape_mix).map(([key, value]) => ({ key, value })),
    }))
    expect(found).toEqual(expected)
  })

  it('tells members of a team which are stale', async () => {
    const file = join(folder, 'team.parquet')
    writeFileSync(file, mergedToParquet(rows.map((each, index) => ({ ...each, stale: index > 0 }))))
    expect(await duckdb(`SELECT endpoint_class, stale FROM '${file}'`)).toEqual([
      { endpoint_class: 'git_log', stale: false },
      { endpoint_class: 'curl', stale: true },
      { endpoint_class: 'Read', stale: true },
    ])
  })

  it('is read where another implementation wrote it', async () => {
    const file = join(folder, 'ours.parquet')
    const copy = join(folder, 'theirs.parquet')
    writeFileSync(file, fingerprintsToParquet(rows))
    await duckdb(`COPY (SELECT * FROM '${file}') TO '${copy}' (FORMAT parquet)`)
    expect(await fingerprintsIn(readFileSync(copy))).toEqual(rows)
  })

  it('is read if it is of a version without histograms', async () => {
    const file = join(folder, 'newer.parquet')
    const older = join(folder, 'older.parquet')
    writeFileSync(file, fingerprintsToParquet(rows))
    const later = [...LATER_COLUMNS].join(', ')
    await duckdb(`COPY (SELECT * EXCLUDE (${later}) FROM '${file}') TO '${older}' (FORMAT parquet)`)
    const [first, ...others] = rows
    const { repeat_burst, elided, needed, ...rest } = first!
    expect(await fingerprintsIn(readFileSync(older))).toEqual([rest, ...others])
  })

  it('is the same bytes for the same rows', () => {
    expect(fingerprintsToParquet(rows)).toEqual(fingerprintsToParquet(rows))
  })
})

describe('what is no such file', () => {
  const [CUT_STEP, CHANGE_STEP] = FULL_RUNS ? [37, 11] : [149, 47]
  const good = fingerprintsToParquet(rows)

  it('is refused wherever it is cut off or changed, or gives rows', async () => {
    for (let length = 0; length < good.length; length += CUT_STEP) {
      await expect(readParquet(good.slice(0, length))).rejects.toMatchObject({
        code: 'invalid_request',
      })
    }
    let refused = 0
    for (let at = 0; at < good.length; at += CHANGE_STEP) {
      const changed = new Uint8Array(good)
      changed[at]! ^= 0xff
      await fingerprintsIn(changed).catch(error => {
        expect(error).toMatchObject({ code: 'invalid_request' })
        refused += 1
      })
    }
    expect(refused).toBeGreaterThan(FULL_RUNS ? 20 : 4)
  })

  it('is refused with other columns', async () => {
    const other = parquetWriteBuffer({ columnData: [{ name: 'prompt', data: ['secret'] }] })
    await expect(readParquet(new Uint8Array(other))).rejects.toMatchObject({
      detail: 'the Parquet file cannot be read',
    })
  })
})
