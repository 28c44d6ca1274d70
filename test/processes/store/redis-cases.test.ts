import { afterAll, beforeAll, describe } from 'vitest'
import { type RedisProcess, startRedis } from '../../support/redis-server.ts'
import { bodyCases } from '../../support/store/body-cases.ts'
import { modelCases } from '../../support/store/model-cases.ts'
import type { OpenStore } from '../../support/store/open-store.ts'
import { partCases } from '../../support/store/part-cases.ts'
import { recordCases } from '../../support/store/record-cases.ts'
import { redisStore } from '../../support/store/redis-store.ts'

let redis: RedisProcess

/** What the embedded store is tested with, on Redis. */
describe.skipIf(process.env['TEST_WITHOUT_REDIS'] === '1')('on Redis', () => {
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.stop())

  const open: OpenStore = options => redisStore(redis.url, options)
  bodyCases(open)
  recordCases(open)
  modelCases(open, 60)
  partCases(open, 30)
})
