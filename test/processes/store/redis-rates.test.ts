import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSharedRate } from '../../../src/access/limits.ts'
import { HELD_MS, type SharedRates } from '../../../src/core/base/shared-rates.ts'
import { eventually } from '../../support/eventually.ts'
import { type RedisProcess, startRedis } from '../../support/redis-server.ts'
import { redisStore } from '../../support/store/redis-store.ts'

describe.skipIf(process.env['TEST_WITHOUT_REDIS'] === '1')('rates in Redis', () => {
  let redis: RedisProcess

  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  const key = { tenant: 'a', keyId: 'key1', perSecond: 100, burst: 50 }

  test('are leased from one bucket, which fills by the server’s time', async () => {
    const { store: one, clock, prefix } = await redisStore(redis.url)
    const { store: other } = await redisStore(redis.url, { prefix, clock })
    const lease = (store: typeof one, wanted: number, taken = 0) =>
      store.rates!.lease({ ...key, wanted, taken })
    expect(await lease(one, 20)).toEqual({ granted: 20, waitMs: 1 })
    expect(await lease(other, 20, 5)).toMatchObject({ granted: 20 })
    // Half of it was leased, and five were taken without.
    expect(await lease(one, 20)).toEqual({ granted: 5, waitMs: 10 })
    clock.now += 100
    expect(await lease(other, 20)).toMatchObject({ granted: 10 })
    // Nobody owes more than a burst, and a full bucket gains nothing.
    expect(await lease(other, 20, 1_000)).toEqual({ granted: 0, waitMs: 510 })
    clock.now += 60_000
    expect(await lease(one, 80)).toMatchObject({ granted: 50 })
    expect(await lease(one, 1)).toMatchObject({ granted: 0 })
    expect(await one.rates!.lease({ ...key, keyId: 'key2', wanted: 9, taken: 0 })).toMatchObject({
      granted: 9,
    })
  })

  test('leave places to processes, which have them for a while', async () => {
    const { store: one, clock, prefix } = await redisStore(redis.url)
    const { store: other } = await redisStore(redis.url, { prefix, clock })
    const hold = (store: typeof one, wanted: number, keyId = 'key1') =>
      store.rates!.hold({ tenant: 'a', keyId, most: 10, wanted })
    expect(await hold(one, 7)).toBe(7)
    expect(await hold(other, 7)).toBe(3)
    expect(await hold(one, 9)).toBe(7)
    expect(await hold(one, 2)).toBe(2)
    expect(await hold(other, 9)).toBe(8)
    expect(await hold(one, 0)).toBe(0)
    expect(await hold(other, 20)).toBe(10)
    expect(await hold(one, 20)).toBe(0)
    expect(await hold(one, 20, 'key2')).toBe(10)
    // A process that has ended does not give them back.
    clock.now += HELD_MS
    expect(await hold(one, 20)).toBe(10)
    expect(await hold(other, 20)).toBe(0)
  })

  test('are kept by processes that know of each other', async () => {
    const opened = [await redisStore(redis.url)]
    const [{ prefix, clock }] = opened as [(typeof opened)[0]]
    for (let i = 0; i < 2; i++) opened.push(await redisStore(redis.url, { prefix, clock }))
    const countsOf = () => opened.map(({ store }) => store.rates!.replicas)
    await eventually(() => expect(countsOf()).toEqual([3, 3, 3]), 100)
    let asked: Promise<unknown> = Promise.resolve()
    const takers = opened.map(({ store: { rates } }) => {
      const lease: SharedRates['lease'] = request => {
        const answer = rates!.lease(request)
        asked = Promise.all([asked, answer])
        return answer
      }
      return createSharedRate(key, () => ({ replicas: rates!.replicas, lease }))
    })
    let passed = 0
    for (let step = 0; step < 500; step++) {
      clock.now += 4
      for (const each of takers) if (each.take(clock.now) === 0) passed++
      await asked
    }
    expect(passed).toBeGreaterThan(250 * 0.9)
    expect(passed).toBeLessThanOrEqual(250 * 1.05)
  })

  test('cannot be asked while Redis is away', async () => {
    const { store } = await redisStore('redis://127.0.0.1:1', { startMs: 10 })
    expect(await store.rates!.lease({ ...key, wanted: 1, taken: 0 })).toBeNull()
    expect(await store.rates!.hold({ tenant: 'a', keyId: 'k', most: 1, wanted: 1 })).toBeNull()
    expect(store.rates!.replicas).toBe(1)
  })
})
