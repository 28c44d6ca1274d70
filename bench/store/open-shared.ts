import { parseRedisUrl } from '../../src/store/redis/address.ts'
import { openRedisStore, type RedisStoreOptions } from '../../src/store/redis/open.ts'
import type { Store } from '../../src/store/store.ts'
import type { RedisProcess } from '../../test/support/redis-server.ts'

const GIB = 2 ** 30

/** The shared store, with deadlines that a busy machine keeps. */
export function openShared(
  redis: Pick<RedisProcess, 'url'>,
  durability: 'primary' | 'replica',
  options: Pick<RedisStoreOptions, 'onCall'> = {},
): Promise<Store> {
  const address = parseRedisUrl(redis.url)
  if ('fault' in address) throw new Error(address.fault)
  return openRedisStore({
    ...options,
    address,
    durability,
    waitMs: 1_000,
    callTimeoutMs: 5_000,
    tenantMaxBytes: 8 * GIB,
    maxBodyBytes: 2 ** 24,
    compressFromBytes: 512,
    onEvent: event => process.stderr.write(`${JSON.stringify(event)}\n`),
  })
}
