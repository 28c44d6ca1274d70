import { randomUUID } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { parseRedisUrl } from '../../../src/core/base/redis-address.ts'
import { openRedisStore, type RedisStoreOptions } from '../../../src/store/redis/open.ts'
import type { StoreEvent } from '../../../src/store/values/store-event.ts'
import { START } from '../../unit/store/inline-store.ts'
import type { CaseOptions } from './open-store.ts'

const MIB = 1024 * 1024

/** The real store over a real Redis, under keys of its own. */
export async function redisStore(
  url: string,
  {
    clock = { now: START },
    upkeepMs = 20,
    ...options
  }: CaseOptions & Partial<Omit<RedisStoreOptions, 'clock' | 'onEvent'>> = {},
) {
  const address = parseRedisUrl(url)
  if ('fault' in address) throw new Error(address.fault)
  const events: StoreEvent[] = []
  const prefix = options.prefix ?? `test-${randomUUID()}`
  const store = await openRedisStore({
    address,
    callTimeoutMs: 60_000,
    startMs: 60_000,
    // Tests that encode in the thread of the store keep it silent.
    silentMs: 60_000,
    tenantMaxBytes: 256 * MIB,
    maxBodyBytes: 16 * MIB,
    ...options,
    prefix,
    sweepMs: upkeepMs,
    clock: () => clock.now,
    onEvent: event => events.push(event),
  })
  onTestFinished(() => store.close())
  return { store, clock, events, prefix }
}
