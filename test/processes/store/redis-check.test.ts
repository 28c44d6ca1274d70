import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RedisProcess, startRedis } from '../../support/redis-server.ts'
import { redisStore } from '../../support/store/redis-store.ts'
import { must } from '../../unit/store/inline-store.ts'

describe.skipIf(process.env['TEST_WITHOUT_REDIS'] === '1')('a check before an upgrade', () => {
  let redis: RedisProcess

  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  test('counts the processes that are there, and finds no problem', async () => {
    const { store, prefix, clock } = await redisStore(redis.url)
    await expect.poll(async () => must(await store.check!()).processes).toBe(0)
    await redisStore(redis.url, { prefix, clock })
    const found = () => store.check!().then(must)
    await expect.poll(found).toMatchObject({ processes: 1, libraries: 1, problems: [] })
    // One that is killed counts for some seconds, one that ends does not.
    clock.now += 60_000
    expect(await found()).toMatchObject({ processes: 0 })
    const { store: third } = await redisStore(redis.url, { prefix, clock })
    await expect.poll(found).toMatchObject({ processes: 1 })
    await third.close()
    expect(await found()).toMatchObject({ processes: 0 })
  })

  test('says that a process cannot read what this version writes', async () => {
    const { store, prefix, clock } = await redisStore(redis.url)
    await redis.ask('ZADD', `${prefix}:processes`, `${clock.now + 5_000}`, 'old haversack_old 0')
    const { problems } = must(await store.check!())
    expect(problems).toEqual(['a process reads values up to layout 0, but this version writes 1'])
  })

  test('says that the server may evict', async () => {
    const { store } = await redisStore(redis.url)
    await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    const { problems } = must(await store.check!())
    await redis.ask('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
    expect(problems).toEqual(['maxmemory-policy is allkeys-lru, but must be noeviction'])
  })
})
