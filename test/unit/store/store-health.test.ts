import { describe, expect, test } from 'vitest'
import type { FailureReason, Store } from '../../../src/store/store.ts'
import { statsOf, storeHealth } from '../../../src/store/store-health.ts'
import { fail } from '../../../src/store/values/failure.ts'
import type { StoreState } from '../../../src/store/values/store-figures.ts'

const NEVER = new Promise<never>(() => {})

function storeThat(answer: Promise<unknown>, state: StoreState = 'open') {
  const asked: unknown[] = []
  const readRecord = (key: unknown) => {
    asked.push(key)
    return answer
  }
  const store = { readRecord, load: { state } } as unknown as Pick<Store, 'readRecord' | 'load'>
  return { store, asked }
}

describe('the store’s health', () => {
  const answered: FailureReason[] = [
    'not_found',
    'busy',
    'full',
    'read_only',
    'unavailable',
    'gone',
  ]

  test.each(answered)('%s is an answer: its state is what it says', async reason => {
    for (const state of ['open', 'salvaging', 'unavailable'] as const) {
      const { store } = storeThat(Promise.resolve(fail(reason, '')), state)
      expect(await storeHealth(store)).toBe(state)
    }
  })

  test('a record that is there is an answer', async () => {
    const { store, asked } = storeThat(Promise.resolve({ ok: true }))
    expect(await storeHealth(store)).toBe('open')
    // The tenant is none, so that it can never be a client’s.
    expect(asked).toEqual([{ tenant: '', namespace: 'health', key: 'none' }])
  })

  test.each(['lost', 'closed'] as const)('%s is none: it is away', async reason => {
    const { store } = storeThat(Promise.resolve(fail(reason, '')))
    expect(await storeHealth(store)).toBe('away')
  })
})

describe('the store’s figures', () => {
  const over = (answer: Promise<unknown>) =>
    statsOf({ stats: () => answer } as unknown as Pick<Store, 'stats'>)

  test('are what it answers', async () => {
    const stats = { ok: true, bodies: 1, records: 2, stored_bytes: 3 }
    expect(await over(Promise.resolve(stats))).toBe(stats)
  })

  test('are none if it fails', async () => {
    expect(await over(Promise.resolve(fail('busy', '')))).toBeNull()
  })
})

test('a store that does not answer within a second is away, and has no figures', async () => {
  const late = storeThat(NEVER).store
  const figures = statsOf({ stats: () => NEVER })
  expect(await Promise.all([storeHealth(late), figures])).toEqual(['away', null])
})
