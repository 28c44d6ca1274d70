import { describe, expect, test } from 'vitest'
import { observed } from '../../../src/store/observed.ts'
import type { Store } from '../../../src/store/store.ts'
import { fail } from '../../../src/store/values/failure.ts'

const kept = { ok: true, hash: '', bytes: 0, expires_at: 0, created: true } as const
const reference = { tenant: 'a', ref: 'f'.repeat(12) }
const selector = { kind: 'bytes', range: { first: 0, last: 0 } } as const
const item = { tenant: 'a', body: new Uint8Array(1), mediaType: 'x' }

/** An observed store in which calls give these answers, and what was reported. */
function observing(answers: Partial<Record<keyof Store, unknown>>) {
  const asked: unknown[][] = []
  const reported: [string, string | null][] = []
  const times: number[] = []
  const call =
    (name: string) =>
    async (...args: unknown[]) => {
      asked.push([name, ...args])
      return answers[name as keyof Store]
    }
  const names = ['put', 'get', 'part', 'touch', 'stats', 'readRecord']
  const calls = Object.fromEntries(names.map(name => [name, call(name)]))
  const state = { pending: 1 }
  const plain = { ...calls, load: state } as unknown as Store
  const store = observed(plain, (op, ms, failure) => {
    reported.push([op, failure])
    times.push(ms)
  })
  return { store, asked, reported, times, state }
}

describe('a call that is watched', () => {
  test('is passed on, answered, and reported with its time', async () => {
    const part = { ...kept, part: {} }
    const { store, asked, reported, times } = observing({
      put: [kept],
      touch: [kept],
      get: kept,
      part,
    })
    expect(await store.put([item])).toEqual([kept])
    expect(await store.touch([reference])).toEqual([kept])
    expect(await store.get(reference)).toBe(kept)
    expect(await store.part(reference, selector)).toBe(part)
    expect(asked).toEqual([
      ['put', [item]],
      ['touch', [reference]],
      ['get', reference],
      ['part', reference, selector],
    ])
    expect(reported).toEqual(['put', 'touch', 'get', 'part'].map(op => [op, null]))
    for (const ms of times) expect(ms).toBeGreaterThanOrEqual(0)
    for (const ms of times) expect(ms).toBeLessThan(60_000)
  })

  test('is reported with the first failure, wherever it is', async () => {
    const failures = [kept, fail('full', ''), fail('lost', '')]
    const { store, reported } = observing({
      put: failures,
      touch: failures,
      get: fail('gone', ''),
      part: fail('busy', ''),
    })
    await store.put([item, item, item])
    await store.touch([reference, reference, reference])
    await store.get(reference)
    await store.part(reference, selector)
    expect(reported).toEqual([
      ['put', 'full'],
      ['touch', 'full'],
      ['get', 'gone'],
      ['part', 'busy'],
    ])
  })
})

test('other calls pass by, and the load is that of now', async () => {
  const { store, reported, state } = observing({ stats: kept, readRecord: fail('gone', '') })
  expect(await store.stats()).toBe(kept)
  await store.readRecord({ tenant: 'a', namespace: 'n', key: 'k' })
  expect(reported).toEqual([])
  state.pending = 7
  expect(store.load.pending).toBe(7)
})
