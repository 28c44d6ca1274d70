import { describe, expect, test } from 'vitest'
import { AppError } from '../../../src/core/base/errors.ts'
import { StoredOriginals } from '../../../src/store/originals.ts'
import type { Store } from '../../../src/store/store.ts'
import { fail } from '../../../src/store/values/failure.ts'
import { bytesOf, inlineStore, keep, MINUTE, must, START, text } from './inline-store.ts'

const ORIGINAL_MS = 30 * MINUTE
const TEXT = { bytes: bytesOf('a text'), media_type: 'text/plain' }
const FIRST = { kind: 'bytes', range: { first: 0, last: 0 } } as const

/** Originals over a real store. */
async function overStore(sessionMs = 120 * MINUTE) {
  const { store, clock } = await inlineStore()
  const lifetimes = () => ({ originalMs: ORIGINAL_MS, sessionMs })
  const touched: unknown[] = []
  const watched: Store = {
    ...store,
    touch(items) {
      touched.push(...items)
      return store.touch(items)
    },
  }
  const originals = new StoredOriginals(watched, lifetimes, () => clock.now)
  return { originals, store, clock, touched }
}

/** Originals over a store of which each call gives this answer. */
function overAnswer(answer: unknown) {
  const one = async () => answer
  const store = { put: one, touch: one, get: one, part: one, purgeSession: one }
  const lifetimes = () => ({ originalMs: ORIGINAL_MS, sessionMs: ORIGINAL_MS })
  return new StoredOriginals(store as unknown as Store, lifetimes, () => START)
}

describe('a text that is kept', () => {
  test('lives as long as originals do, pinned, and can be fetched', async () => {
    const { originals, store, clock } = await overStore()
    const kept = await originals.keep('a', TEXT)
    expect(kept).toMatchObject({ bytes: 6, created: true, expires_at: START + ORIGINAL_MS })
    const stored = must(await store.get({ tenant: 'a', ref: kept.hash }))
    expect([text(stored.body), stored.media_type]).toEqual(['a text', 'text/plain'])
    clock.now += ORIGINAL_MS
    await expect(originals.fetch({ tenant: 'a', ref: kept.hash }, () => {})).rejects.toMatchObject({
      code: 'gone',
    })
  })

  test('of a session lives as long as that, and has the reference that was asked for', async () => {
    const { originals, store } = await overStore()
    const kept = await originals.keep('a', TEXT, 's')
    expect(kept.expires_at).toBe(START + 120 * MINUTE)
    must(await store.get({ tenant: 'a', session: 's', ref: kept.hash.slice(0, 8) }))
    await originals.keep('a', TEXT, 't', kept.hash.slice(0, 24))
    const short = { tenant: 'a', session: 't', ref: kept.hash.slice(0, 8) }
    expect(await store.get(short)).toMatchObject({ reason: 'not_found' })
    must(await store.get({ ...short, ref: kept.hash.slice(0, 24) }))
    // What only the sessions keep goes with them.
    await originals.forget('a', 's')
    await originals.forget('a', 't')
    expect(must(await store.stats()).bodies).toBe(0)
  })

  test('of a session that ends earlier lives on as long as an original', async () => {
    const { originals } = await overStore(MINUTE)
    expect((await originals.keep('a', TEXT, 's')).expires_at).toBe(START + ORIGINAL_MS)
  })
})

describe('a text that is fetched', () => {
  test('claims its size before it is read; what that throws is thrown', async () => {
    const { originals } = await overStore()
    const { hash: ref } = await originals.keep('a', TEXT)
    const { hash: empty } = await originals.keep('a', { ...TEXT, bytes: new Uint8Array() })
    const claimed: number[] = []
    const claim = (bytes: number) => void claimed.push(bytes)
    expect(text((await originals.fetch({ tenant: 'a', ref }, claim)).body)).toBe('a text')
    expect((await originals.fetch({ tenant: 'a', ref: empty }, claim)).body).toHaveLength(0)
    expect(claimed).toEqual([6, 0])
    const refused = new AppError('payload_too_large', 'no')
    await expect(
      originals.fetch({ tenant: 'a', ref }, () => {
        throw refused
      }),
    ).rejects.toBe(refused)
  })

  test('lives on, whole or in part, but is written at most once a minute', async () => {
    const { originals, clock, touched } = await overStore()
    const { hash: ref } = await originals.keep('a', TEXT)
    const { hash: empty } = await originals.keep('a', { ...TEXT, bytes: new Uint8Array() })
    await originals.keep('b', TEXT)
    const whole = (tenant = 'a') => originals.fetch({ tenant, ref }, () => {})
    const touch = (tenant = 'a') => {
      return { tenant, ref, ttlMs: ORIGINAL_MS, pinUntil: clock.now + ORIGINAL_MS }
    }
    await whole()
    await whole()
    expect(touched).toEqual([touch()])
    // A refresh of another tenant's is its own, and an empty text needs none.
    await whole('b')
    await originals.fetch({ tenant: 'a', ref: empty }, () => {})
    expect(touched.splice(0)).toEqual([touch(), touch('b')])
    clock.now += MINUTE - 1
    await originals.fetchPart({ tenant: 'a', ref }, FIRST)
    expect(touched).toEqual([])
    clock.now += 1
    const { part } = await originals.fetchPart({ tenant: 'a', ref }, FIRST)
    expect([text(part.content), touched]).toEqual(['a', [touch()]])
    // A clock that went back is no reason to wait.
    clock.now -= 10 * MINUTE
    await whole()
    expect(touched).toHaveLength(2)
  })

  test('is refused with the problem of the store', async () => {
    const { originals } = await overStore()
    const attempts = [
      originals.fetch({ tenant: 'a', ref: 'f'.repeat(12) }, () => {}),
      originals.fetchPart({ tenant: 'a', ref: 'f'.repeat(12) }, FIRST),
    ]
    for (const attempt of attempts) {
      await expect(attempt).rejects.toMatchObject({ code: 'not_found' })
      await expect(attempt).rejects.toBeInstanceOf(AppError)
    }
  })

  test('that is short-lived is touched after a quarter of its life', async () => {
    const { store, clock } = await inlineStore()
    const touched: unknown[] = []
    const watched = {
      ...store,
      touch: (items: Parameters<Store['touch']>[0]) => {
        touched.push(1)
        return store.touch(items)
      },
    }
    const lifetimes = () => ({ originalMs: 4000, sessionMs: 4000 })
    const originals = new StoredOriginals(watched, lifetimes, () => clock.now)
    const { hash: ref } = await keep(store, 'x')
    for (const ms of [0, 999, 1]) {
      clock.now += ms
      await originals.fetchPart({ tenant: 'a', ref }, FIRST)
    }
    expect(touched).toHaveLength(2)
  })
})

describe('a store that fails', () => {
  const fullUntil = fail('full', 'no room')

  test('is a problem with the seconds after which to try again', async () => {
    const problem = { code: 'overloaded', detail: 'no room', extras: { retry_after_s: 30 } }
    await expect(overAnswer([fullUntil]).keep('a', TEXT)).rejects.toMatchObject(problem)
    await expect(overAnswer(fullUntil).forget('a', 's')).rejects.toMatchObject(problem)
    const reference = { tenant: 'a', ref: 'f'.repeat(12) }
    await expect(overAnswer(fullUntil).fetch(reference, () => {})).rejects.toMatchObject(problem)
  })

  test('that a part is not there is no empty text, unless it is that of the first byte', async () => {
    const reference = { tenant: 'a', ref: 'f'.repeat(12) }
    const wrong = { ...fail('invalid_request', 'no'), errors: [{ path: 'lines', message: 'no' }] }
    await expect(overAnswer(wrong).fetch(reference, () => {})).rejects.toMatchObject({
      code: 'invalid_request',
    })
  })

  test('without an answer it is a bug, not a problem', async () => {
    await expect(overAnswer([]).keep('a', TEXT)).rejects.toThrow('no answer to a put')
    const dependency = { session: 's', ref: 'f'.repeat(8), identity: 'f'.repeat(64) }
    const pin = overAnswer([]).pinDependency(
      'a',
      dependency as unknown as Parameters<ReturnType<typeof overAnswer>['pinDependency']>[1],
    )
    await expect(pin).rejects.toThrow('no answer to a touch')
  })
})
