import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { Failure, RecordKey, RecordWrite, Result, StoredRecord } from '../store.ts'
import { type Codec, UnreadableError } from '../values/codec.ts'
import { fail } from '../values/failure.ts'
import type { Space } from './space.ts'
import type { Tenants } from './tenants.ts'

/** Largest value, in bytes; what is larger is a body. */
const MAX_RECORD_BYTES = 4 * 1024 * 1024
/** Longest namespace and key together, in UTF-16 code units. */
const MAX_KEY_CHARS = 1024
/** What a row and its index entries take, on top of value and key. */
const ROW_BYTES = 120

/** A record of another file; versions of this file must be above it. */
export interface RestoredRecord extends RecordKey, StoredRecord {}

export interface RecordsDeps {
  readonly codec: Codec
  readonly tenants: Tenants
  readonly space: Space
  /** Called for a record that cannot be read. */
  onUnreadable(key: RecordKey, error: UnreadableError): void
}

/** Rows of records. Everything here runs inside a transaction of the caller's. */
export class Records {
  readonly #deps: RecordsDeps
  readonly #sql: Statements

  constructor(database: DatabaseSync, deps: RecordsDeps) {
    this.#deps = deps
    this.#sql = prepareStatements(database)
  }

  read(key: RecordKey, now: number): Result<StoredRecord> {
    const row = this.#find(key, now)
    if (row === undefined) return NO_RECORD
    const record = this.#open(row, key)
    return record === undefined ? UNREADABLE : { ok: true, ...record }
  }

  write(write: RecordWrite, now: number): Result<{ readonly version: number }> {
    const { value, ifVersion, namespace, key } = write
    if (value.byteLength > MAX_RECORD_BYTES || namespace.length + key.length > MAX_KEY_CHARS) {
      return fail('too_large', `a record may have ${MAX_RECORD_BYTES} bytes`)
    }
    const tenant = this.#deps.tenants.findOrAdd(write.tenant)
    const row = this.#sql.select.get(tenant, namespace, key)
    const version = row === undefined || over(row, now) ? 0 : Number(row['version'])
    if (ifVersion !== undefined && ifVersion !== version) return CONFLICT
    const sealed = this.#deps.codec.seal(value, binding(write))
    const charge = chargeOf(sealed, key)
    const refusal = this.#deps.space.claim(tenant, charge, now)
    if (refusal !== undefined) return refusal
    const next = Number(this.#sql.nextVersion.get()?.['value'])
    const end = write.ttlMs === undefined ? null : now + write.ttlMs
    const bytes = value.byteLength
    this.#sql.upsert.run(
      tenant,
      namespace,
      key,
      next,
      charge,
      bytes,
      this.#deps.codec.keyId,
      end,
      sealed,
    )
    this.#deps.tenants.change(tenant, {
      bodies: 0,
      records: row === undefined ? 1 : 0,
      bytes: charge - Number(row?.['charge'] ?? 0),
    })
    return { ok: true, version: next }
  }

  delete(key: RecordKey, ifVersion: number | undefined, now: number): Result<object> {
    const row = this.#find(key, now)
    if (row === undefined) return NO_RECORD
    if (ifVersion !== undefined && ifVersion !== Number(row['version'])) return CONFLICT
    this.#remove(row)
    return { ok: true }
  }

  due(now: number): boolean {
    return this.#sql.expired.get(now, 1) !== undefined
  }

  expire(now: number, limit: number): number {
    const rows = this.#sql.expired.all(now, limit)
    for (const row of rows) this.#remove(row)
    return rows.length
  }

  /** Writes what another file had, with its version, unless the key has a record. */
  restore({ value, version, expires_at, ...key }: RestoredRecord): Failure | undefined {
    const tenant = this.#deps.tenants.findOrAdd(key.tenant)
    this.#sql.raiseVersion.run(version)
    if (this.#sql.select.get(tenant, key.namespace, key.key) !== undefined) return undefined
    const sealed = this.#deps.codec.seal(value, binding(key))
    const charge = chargeOf(sealed, key.key)
    const bytes = value.byteLength
    const refusal = this.#deps.space.claim(tenant, charge, 0)
    if (refusal !== undefined) return refusal
    this.#sql.upsert.run(
      tenant,
      key.namespace,
      key.key,
      version,
      charge,
      bytes,
      this.#deps.codec.keyId,
      expires_at,
      sealed,
    )
    this.#deps.tenants.change(tenant, { bodies: 0, records: 1, bytes: charge })
    return undefined
  }

  removeOf(tenant: number, limit: number): number {
    const rows = this.#sql.ofTenant.all(tenant, limit)
    for (const row of rows) this.#remove(row)
    return rows.length
  }

  #find({ tenant, namespace, key }: RecordKey, now: number): Row | undefined {
    const row = this.#sql.select.get(this.#deps.tenants.find(tenant), namespace, key)
    return row === undefined || over(row, now) ? undefined : row
  }

  #remove(row: Row): void {
    this.#sql.erase.run(row['id']!)
    this.#deps.tenants.change(Number(row['tenant']), {
      bodies: 0,
      records: -1,
      bytes: -Number(row['charge']),
    })
  }

  #open(row: Row, key: RecordKey): StoredRecord | undefined {
    try {
      return openRecord(this.#deps.codec, row, key)
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error
      this.#deps.onUnreadable(key, error)
      return undefined
    }
  }
}

/** A row of any table. */
export type Row = Record<string, SQLOutputValue>

type Statements = ReturnType<typeof prepareStatements>

function prepareStatements(database: DatabaseSync) {
  return {
    select: database.prepare('SELECT * FROM record WHERE tenant = ? AND namespace = ? AND key = ?'),
    upsert: database.prepare(
      `INSERT INTO record (tenant, namespace, key, version, charge, bytes, key_id, expires_at, value)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (tenant, namespace, key) DO UPDATE SET version = excluded.version,
         charge = excluded.charge, bytes = excluded.bytes, key_id = excluded.key_id,
         expires_at = excluded.expires_at, value = excluded.value`,
    ),
    nextVersion: database.prepare(
      `UPDATE counter SET value = value + 1 WHERE name = 'record_version' RETURNING value`,
    ),
    raiseVersion: database.prepare(
      `UPDATE counter SET value = max(value, ?) WHERE name = 'record_version'`,
    ),
    erase: database.prepare('DELETE FROM record WHERE id = ?'),
    expired: database.prepare(
      'SELECT id, tenant, charge FROM record WHERE expires_at IS NOT NULL AND expires_at <= ? ORDER BY expires_at LIMIT ?',
    ),
    ofTenant: database.prepare('SELECT id, tenant, charge FROM record WHERE tenant = ? LIMIT ?'),
  }
}

/** The value that a row of `record` has. @throws UnreadableError */
export function openRecord(codec: Codec, row: Row, key: RecordKey): StoredRecord {
  const keyId = row['key_id'] as string | null
  const sealed = row['value'] as Uint8Array
  const value = codec.open(sealed, binding(key), keyId, Number(row['bytes']))
  const expires_at = row['expires_at'] as number | null
  return { value: new Uint8Array(value), version: Number(row['version']), expires_at }
}

function chargeOf(sealed: Uint8Array, key: string): number {
  return sealed.byteLength + 2 * Buffer.byteLength(key) + ROW_BYTES
}

const NO_RECORD = fail('not_found', 'no such record')
const UNREADABLE = fail('gone', 'the record cannot be read any more; it may be written anew')
const CONFLICT = fail('conflict', 'the record was changed by another')

function over(row: Row, now: number): boolean {
  return row['expires_at'] !== null && Number(row['expires_at']) <= now
}

/** Which record: a value fits nowhere else. */
function binding({ tenant, namespace, key }: RecordKey): Uint8Array {
  return Buffer.from(JSON.stringify(['record', tenant, namespace, key]))
}
