import type { DatabaseSync } from 'node:sqlite'
import { type HashRange, shorten } from '../values/hash-range.ts'

const STORED_BYTES = 16

/** Removed at most at once. */
const STEP = 256

/**
 * What is left of bodies that expired or were evicted, so that `gone` differs from `not_found`.
 */
export interface Tombstones {
  add(tenant: number, hash: Uint8Array, now: number): void
  /** The body is there again. */
  remove(tenant: number, hash: Uint8Array): void
  /** When a body of the range was removed, in Unix milliseconds; `null` if none was. */
  removedAt(tenant: number, range: HashRange, now: number): number | null
  /** Removes old ones, a step at most; whether there are more. */
  sweep(now: number): boolean
  due(now: number): boolean
  removeOf(tenant: number, limit: number): number
}

export interface TombstoneOptions {
  readonly tombstoneMs: number
  readonly maxTombstones: number
}

export function createTombstones(
  database: DatabaseSync,
  { tombstoneMs, maxTombstones }: TombstoneOptions,
): Tombstones {
  const insert = database.prepare(
    'INSERT OR REPLACE INTO tombstone (tenant, hash, until) VALUES (?, ?, ?)',
  )
  const trim = database.prepare('DELETE FROM tombstone WHERE id <= ?')
  const erase = database.prepare('DELETE FROM tombstone WHERE tenant = ? AND hash = ?')
  const find = database.prepare(
    'SELECT until FROM tombstone WHERE tenant = ? AND hash BETWEEN ? AND ? AND until > ? LIMIT 1',
  )
  // Ids grow with time, so the oldest come first; none further on is looked at.
  const oldest = database.prepare('SELECT id, until FROM tombstone ORDER BY id LIMIT ?')
  const ofTenant = database.prepare(
    `DELETE FROM tombstone WHERE id IN (SELECT id FROM tombstone WHERE tenant = ? LIMIT ?)`,
  )

  return {
    add(tenant, hash, now) {
      if (maxTombstones === 0) return
      const short = hash.subarray(0, STORED_BYTES)
      const { lastInsertRowid } = insert.run(tenant, short, now + tombstoneMs)
      trim.run(Number(lastInsertRowid) - maxTombstones)
    },
    remove(tenant, hash) {
      erase.run(tenant, hash.subarray(0, STORED_BYTES))
    },
    removedAt(tenant, range, now) {
      const [low, high] = shorten(range, STORED_BYTES)
      const found = find.get(tenant, low, high, now)
      return found === undefined ? null : Number(found['until']) - tombstoneMs
    },
    due(now) {
      const first = oldest.get(1)
      return first !== undefined && Number(first['until']) <= now
    },
    sweep(now) {
      const rows = oldest.all(STEP)
      const live = rows.findIndex(row => Number(row['until']) > now)
      const last = rows[(live < 0 ? rows.length : live) - 1]
      if (last !== undefined) trim.run(Number(last['id']))
      return live < 0 && rows.length === STEP
    },
    removeOf(tenant, limit) {
      return Number(ofTenant.run(tenant, limit).changes)
    },
  }
}
