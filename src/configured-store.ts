import type { Config } from './config/config.ts'
import { openSqliteStore } from './store/sqlite/client.ts'
import type { Store, StoreEvent } from './store/store.ts'

/** Smaller bodies are not worth the time that compressing them takes. */
const COMPRESS_FROM_BYTES = 8192

/**
 * The store that the configuration says, for the service and for the command line.
 * @param onEvent told what an operator should know
 */
export function openConfiguredStore(
  { data_dir, store, limits }: Pick<Config, 'data_dir' | 'store' | 'limits'>,
  onEvent: (event: StoreEvent) => void,
): Promise<Store> {
  const { max_bytes, tenant_max_bytes, compress, encryption_keys } = store
  return openSqliteStore({
    folder: data_dir,
    maxBytes: max_bytes,
    maxBodyBytes: limits.max_body_bytes,
    compressFromBytes: compress ? COMPRESS_FROM_BYTES : null,
    keys: encryption_keys,
    onEvent,
    ...(tenant_max_bytes === undefined ? {} : { tenantMaxBytes: tenant_max_bytes }),
  })
}
