import type { Failure, Store, StoredRecord } from '../../src/store/store.ts'
import { fail } from '../../src/store/values/failure.ts'

/** Records in a map, as several processes would share them. */
export function recordStore() {
  const records = new Map<string, StoredRecord>()
  let version = 0
  /** What every call is answered with, as long as it is set. */
  const state: { failure: Failure | null } = { failure: null }
  const nameOf = (key: Parameters<Store['readRecord']>[0]) => JSON.stringify(Object.values(key))
  const store: Pick<Store, 'readRecord' | 'writeRecord' | 'deleteRecord'> = {
    async readRecord({ tenant, namespace, key }) {
      const found = records.get(nameOf({ tenant, namespace, key }))
      return state.failure ?? (found ? { ok: true, ...found } : fail('not_found', key))
    },
    async writeRecord({ tenant, namespace, key, value, ifVersion }) {
      if (state.failure !== null) return state.failure
      const name = nameOf({ tenant, namespace, key })
      const there = records.get(name)?.version ?? 0
      if (ifVersion !== undefined && ifVersion !== there) return fail('conflict', key)
      records.set(name, { value: Uint8Array.from(value), version: ++version, expires_at: null })
      return { ok: true, version }
    },
    async deleteRecord({ tenant, namespace, key }) {
      return (
        state.failure ??
        (records.delete(nameOf({ tenant, namespace, key })) ? { ok: true } : fail('not_found', key))
      )
    },
  }
  /** Loses everything, and counts versions from one again. */
  function empty(): void {
    records.clear()
    version = 0
  }
  return { store, records, state, empty }
}
