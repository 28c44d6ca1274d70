import type { Failure, RecordKey, RecordWrite, Store } from '../../../../src/store/store.ts'
import { fail } from '../../../../src/store/values/failure.ts'

/** Records of a store in a map, with faults on demand. */
export function recordStore() {
  const records = new Map<string, { value: Uint8Array; version: number }>()
  const faults = { read: null as Failure | null, write: null as Failure | null, lostAfter: false }
  let versions = 0
  const nameOf = ({ tenant, namespace, key }: RecordKey) => JSON.stringify([tenant, namespace, key])
  const store: Pick<Store, 'readRecord' | 'writeRecord'> = {
    async readRecord(key) {
      if (faults.read !== null) return faults.read
      const record = records.get(nameOf(key))
      return record === undefined
        ? fail('not_found', 'no such record')
        : { ok: true, ...record, expires_at: null }
    },
    async writeRecord({ value, ifVersion, ...key }: RecordWrite) {
      if (faults.write !== null) return faults.write
      const version = records.get(nameOf(key))?.version ?? 0
      if (ifVersion !== undefined && ifVersion !== version) return fail('conflict', 'changed')
      versions += 1
      records.set(nameOf(key), { value, version: versions })
      if (faults.lostAfter) {
        faults.lostAfter = false
        return fail('lost', 'the thread died')
      }
      return { ok: true, version: versions }
    },
  }
  return { store, faults, records }
}
