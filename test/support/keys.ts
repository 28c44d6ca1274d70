import { writeFileSync } from 'node:fs'
import { type KeyRecord, makeKey } from '../../src/access/key-record.ts'

/** A key and its record, which may do everything on `/v1` unless told otherwise. */
export function keyFor(tenant: string, fields: Partial<KeyRecord> = {}) {
  const { key, id, sha256 } = makeKey()
  const record: KeyRecord = {
    id,
    tenant,
    sha256,
    scopes: ['encode'],
    redeems: false,
    created_at: 0,
    ...fields,
  }
  return { key, record, headers: { authorization: `Bearer ${key}` } }
}

export function writeKeysFile(path: string, ...keys: readonly { record: KeyRecord }[]): void {
  writeFileSync(path, keysFileText(...keys))
}

/** The text of a keys file. */
export function keysFileText(...keys: readonly { record: KeyRecord }[]): string {
  return JSON.stringify({ version: 1, keys: keys.map(({ record }) => record) })
}
