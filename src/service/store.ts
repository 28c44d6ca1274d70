import type { Config } from '../config/config.ts'
import { redisTimes } from '../config/redis.ts'
import type { Logger } from '../observability/logger.ts'
import type { Metrics } from '../observability/metrics.ts'
import { observed } from '../store/observed.ts'
import type { RedisStoreOptions } from '../store/redis/open.ts'
import { type OpenStoreOptions, openSqliteStore } from '../store/sqlite/client.ts'
import type { Store } from '../store/store.ts'
import { openLateStore } from '../store/values/late-store.ts'
import type { StoreEvent } from '../store/values/store-event.ts'

/** Opens the embedded store; a test may run it without a thread of its own. */
type Open = (options: OpenStoreOptions) => Promise<Store>

/** Smaller bodies gain too little for the time that compressing them takes. */
const COMPRESS_FROM_BYTES = 8192
/** Memory of a shared store costs more than a disk. */
export const SHARED_FROM_BYTES = 512

/**
 * The store that the configuration asks for, for the service and for the command line.
 * @param onEvent gets what an operator should know @param options.mustExist only for an
 *   existing store: nothing is made or moved, and a server must answer
 */
export function openConfiguredStore(
  config: Pick<Config, 'data_dir' | 'store' | 'limits' | 'keys_file'>,
  onEvent: (event: StoreEvent) => void,
  {
    mustExist = false,
    open = openSqliteStore,
    onCall,
  }: {
    readonly mustExist?: boolean
    readonly open?: Open
    /** Learns of each call of a shared store. */
    readonly onCall?: NonNullable<RedisStoreOptions['onCall']>
  } = {},
): Promise<Store> {
  const { data_dir, store, limits, keys_file } = config
  const { max_bytes, encryption_keys } = store
  // If there may be several tenants, none can fill the store with bodies that must not be evicted.
  const share = keys_file === undefined ? max_bytes : Math.floor(max_bytes / 2)
  const common = {
    maxBodyBytes: limits.max_body_bytes,
    keys: encryption_keys,
    tenantMaxBytes: share,
    onEvent,
  }
  if (store.redis !== undefined) {
    return openShared(store.redis, {
      ...common,
      mustAnswer: mustExist,
      ...(onCall === undefined ? {} : { onCall }),
      compressFromBytes: SHARED_FROM_BYTES,
    })
  }
  return open({
    ...common,
    folder: data_dir,
    maxBytes: max_bytes,
    compressFromBytes: COMPRESS_FROM_BYTES,
    mustExist,
  })
}

/** Opens the store that all replicas share. */
async function openShared(
  redis: NonNullable<Config['store']['redis']>,
  common: Pick<
    RedisStoreOptions,
    | 'maxBodyBytes'
    | 'keys'
    | 'tenantMaxBytes'
    | 'onEvent'
    | 'onCall'
    | 'compressFromBytes'
    | 'mustAnswer'
  >,
): Promise<Store> {
  // Its client is loaded only if it is needed.
  const { openRedisStore } = await import('../store/redis/open.ts')
  const times = redisTimes(redis.call_timeout_ms)
  return openRedisStore({
    ...common,
    address: redis.url,
    prefix: redis.prefix,
    ...(redis.cluster === undefined ? {} : { cluster: redis.cluster }),
    durability: redis.durability,
    callTimeoutMs: times.callMs,
    waitMs: times.waitMs,
    probeMs: times.probeMs,
  })
}

/** How often a store that cannot be opened is tried again, in milliseconds. */
const STORE_RETRY_MS = 15_000

/**
 * The same for the service, which also starts if the store cannot be opened. Calls are measured.
 */
export async function openServiceStore(
  config: Config,
  {
    metrics,
    logger,
  }: {
    readonly metrics: Pick<Metrics, 'store' | 'storeProblem' | 'storeCall'>
    readonly logger: Pick<Logger, 'warn' | 'error'>
  },
  openStore: Open = openSqliteStore,
): Promise<Store> {
  const onEvent = (event: StoreEvent) => {
    metrics.storeProblem(event.kind)
    logger.warn(event, 'the store')
  }
  const store = await openLateStore({
    open: () =>
      openConfiguredStore(config, onEvent, { open: openStore, onCall: metrics.storeCall }),
    onUnavailable(detail) {
      metrics.storeProblem('unavailable')
      logger.error({ detail }, 'the store cannot be opened; nothing is kept meanwhile')
    },
    retryMs: STORE_RETRY_MS,
  })
  return observed(store, metrics.store)
}
