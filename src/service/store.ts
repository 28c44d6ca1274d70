import type { Config } from '../config/config.ts'
import type { Logger } from '../observability/logger.ts'
import type { Metrics } from '../observability/metrics.ts'
import { openLateStore } from '../store/late-store.ts'
import { observed } from '../store/observed.ts'
import type { Lifetimes } from '../store/originals.ts'
import { type OpenStoreOptions, openSqliteStore } from '../store/sqlite/client.ts'
import type { Store, StoreEvent } from '../store/store.ts'

/** Opens the embedded store; a test may run it without a thread of its own. */
type Open = (options: OpenStoreOptions) => Promise<Store>

/** Smaller bodies gain too little for the time that compressing them takes. */
const COMPRESS_FROM_BYTES = 8192

/**
 * The store that the configuration asks for, for the service and for the command line.
 * @param onEvent gets what an operator should know @param options.mustExist only for reading an
 *   existing store: nothing is made or moved
 */
export function openConfiguredStore(
  config: Pick<Config, 'data_dir' | 'store' | 'limits' | 'keys_file'>,
  onEvent: (event: StoreEvent) => void,
  {
    mustExist = false,
    open = openSqliteStore,
  }: { readonly mustExist?: boolean; readonly open?: Open } = {},
): Promise<Store> {
  const { data_dir, store, limits, keys_file } = config
  const { max_bytes, compress, encryption_keys } = store
  // If there may be several tenants, none can fill the store with bodies that must not be evicted.
  const share = keys_file === undefined ? max_bytes : Math.floor(max_bytes / 2)
  return open({
    folder: data_dir,
    maxBytes: max_bytes,
    maxBodyBytes: limits.max_body_bytes,
    compressFromBytes: compress ? COMPRESS_FROM_BYTES : null,
    keys: encryption_keys,
    tenantMaxBytes: store.tenant_max_bytes ?? share,
    mustExist,
    onEvent,
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
    readonly metrics: Pick<Metrics, 'store' | 'storeProblem'>
    readonly logger: Pick<Logger, 'warn' | 'error'>
  },
  openStore: Open = openSqliteStore,
): Promise<Store> {
  const onEvent = (event: StoreEvent) => {
    metrics.storeProblem(event.kind)
    logger.warn(event, 'the store')
  }
  const store = await openLateStore({
    open: () => openConfiguredStore(config, onEvent, { open: openStore }),
    onUnavailable(detail) {
      metrics.storeProblem('unavailable')
      logger.error({ detail }, 'the store cannot be opened; nothing is kept meanwhile')
    },
    retryMs: STORE_RETRY_MS,
  })
  return observed(store, metrics.store)
}

/** How long a tenant's originals and sessions are kept. */
export function lifetimesOf(settings: Config['store'], tenant: string): Lifetimes {
  const own = Object.hasOwn(settings.tenants, tenant) ? settings.tenants[tenant] : undefined
  return {
    originalMs: own?.original_ttl_ms ?? settings.original_ttl_ms,
    sessionMs: own?.session_ttl_ms ?? settings.session_ttl_ms,
  }
}
