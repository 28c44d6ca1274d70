import type { Config } from '../config/config.ts'
import { openSqliteStore } from '../store/sqlite/client.ts'
import type { Store, StoreEvent } from '../store/store.ts'

/** Smaller bodies are not worth the time that compressing them takes. */
const COMPRESS_FROM_BYTES = 8192

/**
 * The store that the configuration says, for the service and for the command line.
 * @param onEvent told what an operator should know
 * @param options.mustExist for a look at what is there: nothing is made or moved
 */
export function openConfiguredStore(
  config: Pick<Config, 'data_dir' | 'store' | 'limits' | 'keys_file'>,
  onEvent: (event: StoreEvent) => void,
  { mustExist = false }: { readonly mustExist?: boolean } = {},
): Promise<Store> {
  const { data_dir, store, limits, keys_file } = config
  const { max_bytes, compress, encryption_keys } = store
  // Where there may be several tenants, none can fill the store with what must not be evicted.
  const share = keys_file === undefined ? max_bytes : Math.floor(max_bytes / 2)
  return openSqliteStore({
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
