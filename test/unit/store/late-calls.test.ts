import { describe, expect, test, vi } from 'vitest'
import type { Store } from '../../../src/store/store.ts'
import { fail } from '../../../src/store/values/failure.ts'
import { openLateStore } from '../../../src/store/values/late-store.ts'
import { eventually } from '../../support/eventually.ts'

const key = { tenant: 'a', namespace: 'n', key: 'k' }
const reference = { tenant: 'a', ref: 'f'.repeat(12) }
const item = { tenant: 'a', body: new Uint8Array(1), mediaType: 'x' }
const range = { kind: 'bytes', range: { first: 0, last: 0 } } as const

/** Every call of a store, with arguments. */
const CALLS: { readonly [Name in keyof Store]?: readonly unknown[] } = {
  put: [[item]],
  touch: [[reference]],
  get: [reference],
  part: [reference, range],
  purgeSession: ['a', 's'],
  purgeTenant: ['a'],
  readRecord: [key],
  writeRecord: [{ ...key, value: new Uint8Array(1) }],
  deleteRecord: [key, 7],
  prune: [],
  verify: [10, 3],
  stats: ['a'],
}

/** A store that notes what it is asked; its answer is the name of the call. */
function plainStore() {
  const asked: unknown[][] = []
  const names = [...Object.keys(CALLS), 'close']
  const calls = names.map(name => [
    name,
    async (...args: unknown[]) => {
      asked.push([name, ...args])
      return name
    },
  ])
  const load = { state: 'open', pending: 3, pending_bytes: 4, refused: 5, threads_lost: 6 }
  return { store: { ...Object.fromEntries(calls), load } as unknown as Store, asked, load }
}

const callOf = (store: Store, name: string) =>
  (store[name as 'prune'] as (...args: readonly unknown[]) => Promise<unknown>)(
    ...CALLS[name as keyof Store]!,
  )

/** A late store whose attempts to open it the test settles. */
async function lateStore() {
  const attempts: PromiseWithResolvers<Store>[] = []
  const details: string[] = []
  const opening = openLateStore({
    open() {
      const attempt = Promise.withResolvers<Store>()
      attempts.push(attempt)
      return attempt.promise
    },
    onUnavailable: detail => details.push(detail),
    retryMs: 1,
  })
  return { opening, attempts, details }
}

describe.each(Object.keys(CALLS))('%s', name => {
  const isList = name === 'put' || name === 'touch'

  test('is passed on to a store that is open', async () => {
    const { store, asked, load } = plainStore()
    const late = await openLateStore({
      open: async () => store,
      onUnavailable: expect.fail,
      retryMs: 1,
    })
    expect(await callOf(late, name)).toBe(name)
    expect(asked).toEqual([[name, ...CALLS[name as keyof Store]!]])
    expect(late.load).toBe(load)
  })

  test('fails while there is none, and after the end', async () => {
    const { opening, attempts } = await lateStore()
    attempts[0]!.reject(new Error('EROFS'))
    const late = await opening
    const missing = fail('unavailable', 'the store cannot be opened')
    const closed = fail('closed', 'the store is closed')
    expect(await callOf(late, name)).toEqual(isList ? [missing] : missing)
    await late.close()
    expect(await callOf(late, name)).toEqual(isList ? [closed] : closed)
  })
})

test('a store that cannot be opened has no load; what is thrown is reported', async () => {
  const { opening, attempts, details } = await lateStore()
  attempts[0]!.reject('no error')
  const late = await opening
  expect(late.load).toEqual({
    state: 'unavailable',
    pending: 0,
    pending_bytes: 0,
    refused: 0,
    threads_lost: 0,
  })
  await eventually(() => expect(attempts).toHaveLength(2))
  attempts[1]!.reject(new Error('EROFS'))
  await eventually(() => expect(attempts).toHaveLength(3))
  expect(details).toEqual(['no error', 'EROFS'])
  const { store } = plainStore()
  attempts[2]!.resolve(store)
  await eventually(async () => expect(await late.prune()).toBe('prune'))
  await late.close()
  expect(attempts).toHaveLength(3)
})

test('closing closes the store, and one that is opened only then', async () => {
  const open = plainStore()
  const late = await openLateStore({
    open: async () => open.store,
    onUnavailable: expect.fail,
    retryMs: 1,
  })
  await late.close()
  expect(open.asked).toEqual([['close']])

  const { opening, attempts } = await lateStore()
  attempts[0]!.reject(new Error('EROFS'))
  const tooLate = await opening
  await eventually(() => expect(attempts).toHaveLength(2))
  await tooLate.close()
  const { store, asked } = plainStore()
  attempts[1]!.resolve(store)
  await eventually(() => expect(asked).toEqual([['close']]))
  expect(await tooLate.prune()).toMatchObject({ reason: 'closed' })
})

test('an attempt that fails after the end is reported, and is the last', async () => {
  const { opening, attempts, details } = await lateStore()
  attempts[0]!.reject(new Error('one'))
  const late = await opening
  await eventually(() => expect(attempts).toHaveLength(2))
  const timers = vi.spyOn(globalThis, 'setTimeout')
  try {
    await late.close()
    attempts[1]!.reject(new Error('two'))
    // After all that the rejection sets off.
    for (let turn = 0; turn < 5; turn++) await Promise.resolve()
    expect(details).toEqual(['one', 'two'])
    expect(timers).not.toHaveBeenCalled()
  } finally {
    timers.mockRestore()
  }
})
