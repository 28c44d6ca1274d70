import type { DatabaseSync } from 'node:sqlite'
import type { Failure } from '../store.ts'
import type { BodyRow } from './body-row.ts'
import type { RestoredRecord } from './records.ts'
import type { UpkeepDeps } from './upkeep.ts'

/** A body of another file, with all that was promised about it. */
export interface RestoredBody
  extends Pick<BodyRow, 'hash' | 'mediaType' | 'alone' | 'createdAt' | 'expiresAt'> {
  readonly tenant: string
  readonly body: Uint8Array
  readonly pinnedUntil: number
  readonly used: number
  /** Hashes of the names of its sessions. */
  readonly sessions: readonly Uint8Array[]
}

/**
 * Writes rows of a damaged file into the one that took its place. Runs inside a transaction of the
 * caller's.
 */
export interface Restore {
  body(body: RestoredBody, now: number): Failure | undefined
  record(record: RestoredRecord): Failure | undefined
  /** Versions of records begin above what the damaged file may have given. */
  begin(now: number): void
}

export type RestoreDeps = Pick<UpkeepDeps, 'bodies' | 'records' | 'tenants' | 'sessions'>

export function createRestore(database: DatabaseSync, deps: RestoreDeps): Restore {
  const { bodies, records, tenants, sessions } = deps
  const find = database.prepare('SELECT id, alone FROM body WHERE tenant = ? AND hash = ?')
  const setAlone = database.prepare('UPDATE body SET alone = ? WHERE id = ?')
  const setAges = database.prepare('UPDATE body SET created_at = ?, used = ? WHERE id = ?')
  const raise = database.prepare(
    `UPDATE counter SET value = max(value, ?) WHERE name = 'record_version'`,
  )

  return {
    body(old, now) {
      const { tenant, hash, body, mediaType, expiresAt, pinnedUntil } = old
      const id = tenants.findOrAdd(tenant)
      const before = find.get(id, hash)
      const ttlMs = expiresAt - now
      const kept = bodies.put({ tenant, body, mediaType, ttlMs, pinUntil: pinnedUntil }, now)
      if (!kept.ok) return kept
      const row = Number(find.get(id, hash)?.['id'])
      setAlone.run(Math.max(Number(before?.['alone'] ?? 0), old.alone ? 1 : 0), row)
      if (before === undefined) setAges.run(old.createdAt, old.used, row)
      for (const name of old.sessions) {
        sessions.link({ tenant: id, name, body: row, hash, isLong: false })
      }
      return undefined
    },
    record: record => records.restore(record),
    // Fewer than one write a millisecond since 1970.
    begin: now => void raise.run(now),
  }
}
