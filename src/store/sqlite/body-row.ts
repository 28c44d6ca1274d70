import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'

/** A row of the table `body`, with the tenant's name, which is bound into the chunks. */
export interface BodyRow {
  readonly id: number
  readonly tenant: number
  readonly tenantName: string
  /** Its tenant is being purged, so its chunks can no longer be checked. */
  readonly purged: boolean
  readonly hash: Uint8Array
  readonly bytes: number
  readonly charge: number
  readonly lines: number
  readonly keyId: string | null
  readonly mediaType: string
  readonly alone: boolean
  readonly createdAt: number
  readonly expiresAt: number
}

const COLUMNS = `body.id, body.tenant, tenant.name AS tenant_name, body.hash, body.bytes, body.charge, body.lines,
  body.key_id, body.media_type, body.alone, body.created_at, body.expires_at`
const FROM = `SELECT ${COLUMNS} FROM body JOIN tenant ON tenant.id = body.tenant WHERE`

/** Prepared statements on rows of bodies. */
export type BodyStatements = ReturnType<typeof prepareBodyStatements>

export function prepareBodyStatements(database: DatabaseSync) {
  return {
    byId: database.prepare(`${FROM} body.id = ?`),
    byHash: database.prepare(`${FROM} body.tenant = ? AND hash = ?`),
    inRange: database.prepare(
      `${FROM} body.tenant = ? AND hash BETWEEN ? AND ? AND expires_at > ? LIMIT 2`,
    ),
    expired: database.prepare(
      `SELECT expires_at FROM body
         WHERE tenant = ? AND hash BETWEEN ? AND ? AND expires_at <= ? LIMIT 1`,
    ),
    insert: database.prepare(
      `INSERT INTO body (tenant, hash, bytes, charge, lines, chunks, media_type, key_id, alone, created_at,
         expires_at, pinned_until, used) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    refresh: database.prepare(
      `UPDATE body SET expires_at = ?, pinned_until = max(pinned_until, ?), used = ?, alone = max(alone, ?)
         WHERE id = ?`,
    ),
    rewrite: database.prepare(
      'UPDATE body SET bytes = ?, charge = ?, lines = ?, chunks = ?, key_id = ? WHERE id = ?',
    ),
    mark: database.prepare('UPDATE body SET used = ? WHERE id = ? AND used < ?'),
    erase: database.prepare('DELETE FROM body WHERE id = ?'),
  }
}

export function toBodyRow(row: Record<string, SQLOutputValue> | undefined): BodyRow | undefined {
  if (row === undefined) return undefined
  return {
    id: Number(row['id']),
    tenant: Number(row['tenant']),
    tenantName: (row['tenant_name'] ?? '') as string,
    purged: row['tenant_name'] === null,
    hash: row['hash'] as Uint8Array,
    bytes: Number(row['bytes']),
    charge: Number(row['charge']),
    lines: Number(row['lines']),
    keyId: row['key_id'] as string | null,
    mediaType: row['media_type'] as string,
    alone: row['alone'] === 1,
    createdAt: Number(row['created_at']),
    expiresAt: Number(row['expires_at']),
  }
}
