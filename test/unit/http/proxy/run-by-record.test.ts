import { describe, expect, test } from 'vitest'
import type { FreshRecord } from '../../../../src/core/contract/operation-result.ts'
import { type Recalled, runByRecord } from '../../../../src/http/proxy/run-by-record.ts'
import type { JobResult } from '../../../../src/pool/job.ts'
import type { OnRecord } from '../../../../src/store/rewrites.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const record = (key: string, position: number | null = null): FreshRecord => {
  return { key, bytes: bytes(key), position }
}

/** A result with these records, and a report for each of them and one for none. */
function done(...records: FreshRecord[]): JobResult & { readonly ok: true } {
  const reports = [...records.map(({ key }) => ({ op: 'x', recordKey: key })), { op: 'x' }]
  return {
    ok: true,
    queue_ms: 0,
    work_ms: 0,
    media: 'json',
    body: bytes('body'),
    keep: [],
    markers: [],
    dependencies: [],
    records,
    reports,
  }
}

/** Runs give these results in turn, and the store these answers. */
async function run(results: readonly JobResult[], answers: readonly (OnRecord | null)[]) {
  const given: Recalled[] = []
  const asked: string[][] = []
  const confirmed: number[] = []
  const placed: string[] = []
  const state = { unrecorded: 0 }
  const result = await runByRecord(
    async recalled => {
      given.push(recalled)
      return results[given.length - 1]!
    },
    {
      tenant: 't',
      onUnrecorded: () => void state.unrecorded++,
      rewrites: {
        async recall(tenant, records) {
          asked.push([tenant, ...records.map(({ key }) => key)])
          return answers[asked.length - 1]!
        },
      },
      memory: {
        place(key, value) {
          placed.push(`${key}=${new TextDecoder().decode(value)}`)
          return key === 'full' ? null : 100 + placed.length
        },
        confirm: position => void confirmed.push(position),
      },
    },
  )
  return { result, given, asked, confirmed, placed, ...state }
}

const keysOf = (result: JobResult) => (result.ok ? result.records.map(({ key }) => key) : null)
const NEW: OnRecord = { found: {}, differs: false }

describe('a rewrite', () => {
  test('of which nothing is on record is as it was decided', async () => {
    const first = done(record('a', 1), record('b'))
    const { result, given, asked, confirmed, placed, unrecorded } = await run([first], [NEW])
    expect(result).toEqual(first)
    expect([given, asked]).toEqual([[{}], [['t', 'a', 'b']]])
    expect([confirmed, placed, unrecorded]).toEqual([[], [], 0])
  })

  test('keeps to write only what is not on record yet, and confirms the rest', async () => {
    const all = done(record('a', 1), record('b', 2), record('c'))
    const known = { found: { a: bytes('a'), c: bytes('c') }, differs: false }
    const { result, given, confirmed, placed } = await run([all], [known])
    expect(keysOf(result)).toEqual(['b'])
    expect(result.ok && result.reports).toEqual([{ op: 'x', recordKey: 'b' }, { op: 'x' }])
    expect([given.length, confirmed, placed]).toEqual([1, [1], []])
  })

  test('runs again by what was decided otherwise before, and asks for each decision once', async () => {
    const found = { a: bytes('earlier'), full: bytes('too') }
    const { result, given, asked, confirmed, placed } = await run(
      [done(record('a'), record('full')), done(record('b')), done(record('b'), record('c'))],
      [{ found, differs: true }, { found: { b: bytes('also') }, differs: true }, NEW],
    )
    expect(given).toEqual([{}, found, { ...found, b: bytes('also') }])
    expect(asked).toEqual([
      ['t', 'a', 'full'],
      ['t', 'b'],
      ['t', 'c'],
    ])
    expect(keysOf(result)).toEqual(['b', 'c'])
    // Later turns find what holds; what is replaced does not.
    expect(placed).toEqual(['a=earlier', 'full=too'])
    expect(confirmed).toEqual([101])
  })

  test('holds as it is if the store does not answer', async () => {
    const first = done(record('a', 1))
    const { result, confirmed, unrecorded } = await run([first], [null])
    expect(result).toBe(first)
    expect([confirmed, unrecorded]).toEqual([[], 1])
  })

  test('that fails asks for nothing', async () => {
    const problem = { code: 'internal', detail: 'no' } as const
    const failed = { ok: false, queue_ms: 0, work_ms: 0, problem } as const
    const { result, asked } = await run([failed], [])
    expect([result, asked]).toEqual([failed, []])
  })
})
