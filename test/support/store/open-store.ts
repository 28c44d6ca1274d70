import type { Store } from '../../../src/store/store.ts'
import type { StoreEvent } from '../../../src/store/values/store-event.ts'
import type { FakeClock } from '../../unit/store/inline-store.ts'

/** What cases need to set, on any store. */
export interface CaseOptions {
  readonly clock?: FakeClock
  readonly upkeepMs?: number
  readonly tombstoneMs?: number
  readonly maxBodyBytes?: number
  readonly tenantMaxBytes?: number
  readonly compressFromBytes?: number | null
}

/** Opens an empty store that goes with the test, at the clock's time. */
export type OpenStore = (options?: CaseOptions) => Promise<{
  readonly store: Store
  readonly clock: FakeClock
  readonly events: readonly StoreEvent[]
}>
