import type { Failure, Store } from '../store.ts'
import { fail } from './failure.ts'
import type { StoreLoad } from './store-figures.ts'

export interface LateStoreOptions {
  open(): Promise<Store>
  /** Called with the reason each time that it cannot be opened. */
  onUnavailable(detail: string): void
  /** Between two attempts, in milliseconds. */
  readonly retryMs: number
}

const NO_LOAD: StoreLoad = {
  state: 'unavailable',
  pending: 0,
  pending_bytes: 0,
  refused: 0,
  threads_lost: 0,
}

/**
 * A store that may not be available yet, because its disk is full, read-only or not mounted. Calls
 * then fail as values, until an attempt to open the store succeeds. Resolves after the first
 * attempt.
 */
export async function openLateStore(options: LateStoreOptions): Promise<Store> {
  let store: Store | null = null
  let retry: NodeJS.Timeout | undefined
  let closed = false

  async function attempt(): Promise<void> {
    try {
      const opened = await options.open()
      if (closed) await opened.close()
      else store = opened
    } catch (error) {
      options.onUnavailable(error instanceof Error ? error.message : String(error))
      if (closed) return
      retry = setTimeout(() => void attempt(), options.retryMs)
      retry.unref()
    }
  }

  const missing = async (): Promise<Failure> =>
    closed
      ? fail('closed', 'the store is closed')
      : fail('unavailable', 'the store cannot be opened')
  await attempt()

  return {
    put: async items => store?.put(items) ?? Promise.all(items.map(missing)),
    touch: async items => store?.touch(items) ?? Promise.all(items.map(missing)),
    get: async reference => store?.get(reference) ?? missing(),
    part: async (reference, selector) => store?.part(reference, selector) ?? missing(),
    purgeSession: async (tenant, session) => store?.purgeSession(tenant, session) ?? missing(),
    purgeTenant: async tenant => store?.purgeTenant(tenant) ?? missing(),
    forgetPurged: (tenant, generation) => store?.forgetPurged?.(tenant, generation),
    readRecord: async key => store?.readRecord(key) ?? missing(),
    writeRecord: async write => store?.writeRecord(write) ?? missing(),
    deleteRecord: async (key, ifVersion) => store?.deleteRecord(key, ifVersion) ?? missing(),
    prune: async () => store?.prune() ?? missing(),
    verify: async (limit, cursor) => store?.verify(limit, cursor) ?? missing(),
    stats: async tenant => store?.stats(tenant) ?? missing(),
    get claims() {
      return store?.claims
    },
    get journal() {
      return store?.journal
    },
    get rates() {
      return store?.rates
    },
    get load() {
      return store?.load ?? NO_LOAD
    },
    async close() {
      closed = true
      clearTimeout(retry)
      await store?.close()
    },
  }
}
