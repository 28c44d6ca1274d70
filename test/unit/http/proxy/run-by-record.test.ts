import { describe, expect, test } from 'vitest'
import type { FreshRecord } from '../../../../src/core/contract/operation-result.ts'
import { type Recalled, runByRecord } from '../../../../src/http/proxy/run-by-record.ts'
import type { JobResult } from '../../../../src/pool/job.ts'
import type { OnRecord } from '../../../../src/store/sharing/rewrites.ts'
import { rowWith } from '../../../support/result-rows.ts'

const REWRITE = { readable: true, texts: 3, rewritten: 3, tokens_saved: 9 }

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
async function run(results: readonly JobResult[], answers: readonly OnRecord[]) {
  const given: Recalled[] = []
  const terms: object[] = []
  const asked: string[][] = []
  const confirmed: number[] = []
  const placed: string[] = []
  const kept: string[] = []
  const state = { unrecorded: 0 }
  const result = await runByRecord(
    async (recalled, more) => {
      given.push(recalled)
      if (more !== undefined) terms.push(more)
      return results[given.length - 1]!
    },
    {
      tenant: 't',
      onUnrecorded: () => void state.unrecorded++,
      rewrites: {
        async decide(tenant, records) {
          asked.push([tenant, ...records.map(({ key }) => key)])
          return answers[asked.length - 1]!
        },
      },
      generations: { keep: async (_, id) => void kept.push(id) },
      memory: {
        place(key, value) {
          placed.push(`${key}=${new TextDecoder().decode(value)}`)
          return key === 'full' ? null : 100 + placed.length
        },
        confirm: position => void confirmed.push(position),
      },
    },
  )
  return { result, given, terms, asked, confirmed, placed, kept, ...state }
}

const keysOf = (result: JobResult) => (result.ok ? result.records.map(({ key }) => key) : null)
const UNHEARD: OnRecord = { found: {}, differs: false, others: 'unheard' }
const NEW: OnRecord = { found: {}, differs: false, others: 'left' }

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
    const known = { ...NEW, found: { a: bytes('a'), c: bytes('c') } }
    const { result, given, confirmed, placed } = await run([all], [known])
    expect(keysOf(result)).toEqual(['b'])
    expect(result.ok && result.reports).toEqual([{ op: 'x', recordKey: 'b' }, { op: 'x' }])
    expect([given.length, confirmed, placed]).toEqual([1, [1], []])
  })

  test('counts the results that are not on record yet', async () => {
    const all = done(record('a', 1), { ...record('b'), isEarlier: true }, record('c'))
    const fresh = { tokenizer: 'x', count: 3, before: 30, after: 15 }
    const row = JSON.stringify(rowWith({ tokens: { before: 10, after: 5 } }))
    const reports = [
      { op: 'x', rewrite: { ...REWRITE, fresh } },
      ...['a', 'b', 'c'].map(recordKey => ({ op: 'x', recordKey, row })),
    ]
    const freshIf = async (answer: OnRecord) => {
      const { result } = await run([{ ...all, reports }], [answer])
      return result.ok ? result.reports[0]?.rewrite?.fresh : null
    }
    const one = { tokenizer: 'x', count: 1, before: 10, after: 5 }
    const two = { tokenizer: 'x', count: 2, before: 20, after: 10 }
    expect(await freshIf(NEW)).toEqual(fresh)
    expect(await freshIf({ ...NEW, found: { a: bytes('a'), c: bytes('c') } })).toEqual(one)
    const found = { a: bytes('a'), b: bytes('b'), c: bytes('c') }
    expect(await freshIf({ ...NEW, found })).toBeUndefined()
    // Whoever sent the earlier one has counted it.
    expect(await freshIf(UNHEARD)).toEqual(two)
  })

  test('hands what each run looks up ahead to the decision after it', async () => {
    const looked: string[][] = []
    const used: (string[] | undefined)[] = []
    const found = { a: bytes('earlier') }
    const answers: OnRecord[] = [{ ...NEW, found, differs: true }, NEW]
    const of = new WeakMap<object, string[]>()
    await runByRecord(
      async (recalled, _, job) => {
        job?.onKeysAhead?.(['a', `after ${Object.keys(recalled)}`])
        return done(record('a'))
      },
      {
        tenant: 't',
        onUnrecorded: () => {},
        rewrites: {
          lookAhead(tenant) {
            const keys: string[] = []
            const ahead = {
              look: (some: readonly string[]) => void keys.push(...some),
              find: () => undefined,
            }
            looked.push([tenant])
            of.set(ahead, keys)
            return ahead
          },
          async decide(_tenant, _records, _asked, _bounds, ahead) {
            used.push(ahead && of.get(ahead))
            return answers.shift()!
          },
        },
        generations: { keep: async () => {} },
        memory: { place: () => null, confirm: () => {} },
      },
    )
    expect(looked).toEqual([['t'], ['t']])
    expect(used).toEqual([
      ['a', 'after '],
      ['a', 'after a'],
    ])
  })

  test('runs again by what was decided otherwise before', async () => {
    const found = { a: bytes('earlier'), full: bytes('too') }
    const { result, given, asked, confirmed, placed } = await run(
      [done(record('a'), record('full')), done(record('b')), done(record('b'), record('c'))],
      [
        { ...NEW, found, differs: true },
        { ...NEW, found: { b: bytes('also') }, differs: true },
        NEW,
      ],
    )
    expect(given).toEqual([{}, found, { ...found, b: bytes('also') }])
    expect(asked).toEqual([
      ['t', 'a', 'full'],
      ['t', 'b'],
      ['t', 'b', 'c'],
    ])
    expect(keysOf(result)).toEqual(['b', 'c'])
    // Later turns find what holds; what is replaced does not.
    expect(placed).toEqual(['a=earlier', 'full=too'])
    expect(confirmed).toEqual([101])
  })

  test('holds as it is if the store does not answer and nothing is left out', async () => {
    const first = done(record('a', 1))
    const { result, confirmed, unrecorded } = await run([first], [UNHEARD])
    expect(result).toBe(first)
    expect([confirmed, unrecorded]).toEqual([[], 1])
  })

  test('runs again for earlier results that a process may have sent without a record', async () => {
    const earlier = (key: string) => ({ ...record(key), isEarlier: true as const })
    const first = done(earlier('a'), earlier('b'), record('c'))
    const whole = done(earlier('b'), record('c'))
    const found = { a: bytes('a') }
    const { result, given, terms, asked } = await run(
      [first, whole],
      [
        { found, differs: false, others: 'unsure' },
        { ...NEW, others: 'recorded' },
      ],
    )
    expect(given).toEqual([{}, found])
    expect(terms).toEqual([{ earlierWhole: true }])
    expect(asked).toEqual([
      ['t', 'a', 'b', 'c'],
      ['t', 'b', 'c'],
    ])
    expect(keysOf(result)).toEqual([])
  })

  test('leaves out nothing new if the store does not answer', async () => {
    const first = { ...done(record('a', 1)), keep: [{ bytes: bytes('text'), media_type: 'x' }] }
    const whole = done(record('a', 2))
    const { result, given, terms, unrecorded } = await run([first, whole], [UNHEARD])
    expect(result).toBe(whole)
    expect([given, terms, unrecorded]).toEqual([[{}, {}], [{ recordedOnly: true }], 1])
  })

  test('follows what is recorded even if the store takes nothing more', async () => {
    const found = { a: bytes('earlier') }
    const answers = [{ ...UNHEARD, found, differs: true }, UNHEARD]
    const second = done(record('b', 2))
    const { result, given, unrecorded } = await run([done(record('a')), second], answers)
    expect([result, given, unrecorded]).toEqual([second, [{}, found], 1])
  })

  test('whose decisions were claimed is done, and reports those that are new', async () => {
    const claimed: OnRecord = { found: { a: bytes('a') }, differs: false, others: 'recorded' }
    const first = done({ ...record('a', 1), generation: 'g' }, record('b', 2))
    const { result, confirmed, kept } = await run([first], [claimed])
    expect(keysOf(result)).toEqual([])
    expect(result.ok && result.reports).toEqual([{ op: 'x', recordKey: 'b' }, { op: 'x' }])
    expect([confirmed, kept]).toEqual([[1, 2], ['g']])
  })

  test('that fails asks for nothing', async () => {
    const problem = { code: 'internal', detail: 'no' } as const
    const failed = { ok: false, queue_ms: 0, work_ms: 0, problem } as const
    const { result, asked } = await run([failed], [])
    expect([result, asked]).toEqual([failed, []])
  })
})
