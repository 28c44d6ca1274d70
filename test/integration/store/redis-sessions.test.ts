import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RedisProcess, startRedis } from '../../support/redis-server.ts'
import { runs } from '../../support/runs.ts'
import { createSessionWorld, sessionStep } from '../../support/session-world.ts'
import { redisStore } from '../../support/store/redis-store.ts'

const RUNS = runs(12)

describe.skipIf(process.env['TEST_WITHOUT_REDIS'] === '1')('three replicas on one Redis', () => {
  let redis: RedisProcess

  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  it.each([
    ['enough', { bodyBytes: 1 << 22, hasCallIds: true }],
    ['little', { bodyBytes: 1 << 16, hasCallIds: false }],
  ])('give true answers at every turn, with %s memory', async (_, options) => {
    const world = createSessionWorld({ ...options, ...(await redisStore(redis.url)), replicas: 3 })
    await fc.assert(
      fc.asyncProperty(fc.array(sessionStep, { minLength: 10, maxLength: 40 }), async steps => {
        world.begin()
        for (const each of steps) await world.run(each)
      }),
      { numRuns: RUNS, endOnFailure: true },
    )
    expect(world.seen.lines).toBeGreaterThan(0)
    expect(world.seen.moved).toBeGreaterThan(100)
  })
})
