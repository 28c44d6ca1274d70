import { hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { type HashRange, shorten } from '../hash-range.ts'

const LINK_HASH_BYTES = 8
const NAME_BYTES = 16

/** Nothing is linked to it. */
export const NO_SESSION = 0

/** Which bodies belong to which session. Names are kept as hashes only. */
export interface Sessions {
  find(tenant: number, name: string): number
  link(tenant: number, name: string, body: number, hash: Uint8Array): void
  /** Bodies of the session whose hash may lie in the range; the first 8 bytes are compared. */
  candidates(session: number, range: HashRange): number[]
  /** Takes a body that is removed out of its sessions; a session without bodies ends. */
  unlink(body: number): void
  /** Takes the name away; gives the session's number. */
  disown(tenant: number, name: string): number
  /** A session whose links are still to be removed. */
  disowned(): number | undefined
  /** Numbers are used again: this one may be a live session's by now. */
  isDisowned(session: number): boolean
  /** Removes up to `limit` links; gives the bodies that no session has any more. */
  release(session: number, limit: number): { readonly orphans: number[]; readonly done: boolean }
  removeOf(tenant: number, limit: number): number
}

/** More bodies than this with the same first digits in one session are not looked at. */
const MAX_CANDIDATES = 64

export function createSessions(database: DatabaseSync): Sessions {
  const byName = database.prepare('SELECT id FROM session WHERE tenant = ? AND name = ?')
  const insert = database.prepare('INSERT INTO session (tenant, name) VALUES (?, ?)')
  const addLink = database.prepare(
    'INSERT OR IGNORE INTO link (session, hash, body) VALUES (?, ?, ?)',
  )
  const inRange = database.prepare(
    'SELECT body FROM link WHERE session = ? AND hash BETWEEN ? AND ? LIMIT ?',
  )
  const ofBody = database.prepare('SELECT session, hash FROM link WHERE body = ?')
  const dropLink = database.prepare('DELETE FROM link WHERE session = ? AND hash = ? AND body = ?')
  const dropIfEmpty = database.prepare(
    'DELETE FROM session WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM link WHERE session = ?1)',
  )
  const unname = database.prepare('UPDATE session SET name = NULL WHERE id = ?')
  const nameless = database.prepare('SELECT id FROM session WHERE name IS NULL LIMIT 1')
  const unnamed = database.prepare('SELECT 1 FROM session WHERE id = ? AND name IS NULL')
  const ofSession = database.prepare('SELECT hash, body FROM link WHERE session = ? LIMIT ?')
  const anyLink = database.prepare('SELECT 1 FROM link WHERE body = ? LIMIT 1')
  const ofTenant = database.prepare(
    'DELETE FROM session WHERE id IN (SELECT id FROM session WHERE tenant = ? LIMIT ?)',
  )

  const find = (tenant: number, name: string) =>
    Number(byName.get(tenant, nameHash(name))?.['id'] ?? NO_SESSION)

  return {
    find,
    link(tenant, name, body, hash) {
      let session = find(tenant, name)
      if (session === NO_SESSION) {
        session = Number(insert.run(tenant, nameHash(name)).lastInsertRowid)
      }
      addLink.run(session, hash.subarray(0, LINK_HASH_BYTES), body)
    },
    candidates(session, range) {
      const [low, high] = shorten(range, LINK_HASH_BYTES)
      return inRange.all(session, low, high, MAX_CANDIDATES).map(row => Number(row['body']))
    },
    unlink(body) {
      for (const row of ofBody.all(body)) {
        dropLink.run(row['session']!, row['hash']!, body)
        dropIfEmpty.run(row['session']!)
      }
    },
    disown(tenant, name) {
      const id = find(tenant, name)
      if (id !== NO_SESSION) unname.run(id)
      return id
    },
    disowned() {
      const row = nameless.get()
      return row === undefined ? undefined : Number(row['id'])
    },
    isDisowned: session => unnamed.get(session) !== undefined,
    release(session, limit) {
      const rows = ofSession.all(session, limit)
      const orphans: number[] = []
      for (const row of rows) {
        dropLink.run(session, row['hash']!, row['body']!)
        if (anyLink.get(row['body']!) === undefined) orphans.push(Number(row['body']))
      }
      return { orphans, done: Number(dropIfEmpty.run(session).changes) > 0 || rows.length === 0 }
    },
    removeOf(tenant, limit) {
      return Number(ofTenant.run(tenant, limit).changes)
    },
  }
}

function nameHash(name: string): Uint8Array {
  return hash('sha256', name, 'buffer').subarray(0, NAME_BYTES)
}
