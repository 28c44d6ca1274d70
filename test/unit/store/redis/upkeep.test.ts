import { expect, onTestFinished, test } from 'vitest'
import { readLibrary } from '../../../../src/store/redis/library.ts'
import type { RedisServer } from '../../../../src/store/redis/server.ts'
import { RedisUpkeep } from '../../../../src/store/redis/upkeep.ts'

test.each([1, null, 'x'])('a server that lists tenants as %j is one that failed', async reply => {
  const answer = async () => ({ ok: true, reply }) as const
  const upkeep = new RedisUpkeep({
    server: { isAvailable: true, command: answer, call: answer } as unknown as RedisServer,
    library: readLibrary(),
    prefix: 'p',
    time: () => '',
    tombstoneMs: 1,
    sweepMs: 3_600_000,
    onSwept: () => {},
  })
  onTestFinished(() => upkeep.close())
  expect(await upkeep.roots(0)).toMatchObject({ ok: false, reason: 'failed' })
})
