import { hash } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { type HashRange, MIN_DIGITS, shorten } from '../values/hash-range.ts'
import { createNamedRows, NO_ROW } from './named-rows.ts'

/**
 * Bytes of a hash in a link. Links of bodies that only long references name have more: those of the
 * reference.
 */
const LINK_HASH_BYTES = 8
const LONG_LINK_BYTES = 12
const NAME_BYTES = 16

/** Nothing is linked to it. */
export const NO_SESSION = NO_ROW

export interface Link {
  readonly tenant: number
  /** The name of the session, or the hash of it that a file has. */
  readonly name: string | Uint8Array
  readonly body: number
  readonly hash: Uint8Array
  /** Whether only long references name the body in the session. */
  readonly isLong: boolean
}

export interface DueSession {
  readonly body: number
  /** Digits that a reference to it has at least. */
  readonly digits: number
}

/** Which bodies belong to which session. Names are kept as hashes only. */
export interface Sessions {
  find(tenant: number, name: string): number
  /**
   * A body that a short reference names stays so; one that only long ones name may get a short one.
   */
  link(link: Link): void
  /** Bodies of the session whose hash may lie in the range; the first 8 bytes are compared. */
  candidates(session: number, range: HashRange): DueSession[]
  /** Takes a body that is removed out of its sessions; a session without bodies ends. */
  unlink(body: number): void
  /** Takes the name away; returns the session's number. */
  disown(tenant: number, name: string): number
  /** A session whose links are still to be removed. */
  disowned(): number | undefined
  /** Numbers are used again: this one may be a live session's by now. */
  isDisowned(session: number): boolean
  /** Removes up to `limit` links; returns the bodies that no session has any more. */
  release(session: number, limit: number): { readonly orphans: number[]; readonly done: boolean }
  removeOf(tenant: number, limit: number): number
}

/** More bodies than this with the same first digits in one session are not looked at. */
const MAX_CANDIDATES = 64

/** Sorts after every rest of a hash. */
const AFTER = Buffer.alloc(LONG_LINK_BYTES - LINK_HASH_BYTES, 0xff)

export function createSessions(database: DatabaseSync): Sessions {
  const sessions = createNamedRows<[tenant: number, name: Uint8Array]>(database, 'session', [
    'tenant',
    'name',
  ])
  const addLink = database.prepare(
    `INSERT INTO link (session, hash, body)
       SELECT ?1, ?2, ?3 WHERE NOT EXISTS (SELECT 1 FROM link WHERE body = ?3 AND session = ?1)`,
  )
  const dropLonger = database.prepare(
    'DELETE FROM link WHERE body = ? AND session = ? AND length(hash) > ?',
  )
  const inRange = database.prepare(
    'SELECT body, length(hash) AS bytes FROM link ' +
      'WHERE session = ? AND hash BETWEEN ? AND ? LIMIT ?',
  )
  const ofBody = database.prepare('SELECT session, hash FROM link WHERE body = ?')
  const dropLink = database.prepare('DELETE FROM link WHERE session = ? AND hash = ? AND body = ?')
  const dropIfEmpty = database.prepare(
    'DELETE FROM session WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM link WHERE session = ?1)',
  )
  const unnamed = database.prepare('SELECT 1 FROM session WHERE id = ? AND name IS NULL')
  const ofSession = database.prepare('SELECT hash, body FROM link WHERE session = ? LIMIT ?')
  const anyLink = database.prepare('SELECT 1 FROM link WHERE body = ? LIMIT 1')
  const ofTenant = database.prepare(
    'DELETE FROM session WHERE id IN (SELECT id FROM session WHERE tenant = ? LIMIT ?)',
  )

  return {
    find: (tenant, name) => sessions.find(tenant, nameHash(name)),
    link({ tenant, name, body, hash, isLong }) {
      const session = sessions.findOrAdd(tenant, nameHash(name))
      const bytes = isLong ? LONG_LINK_BYTES : LINK_HASH_BYTES
      dropLonger.run(body, session, bytes)
      addLink.run(session, hash.subarray(0, bytes), body)
    },
    candidates(session, range) {
      const [low] = shorten(range, LINK_HASH_BYTES)
      // Longer ones come after all that are a prefix of them.
      const end = Buffer.concat([range.high.subarray(0, LINK_HASH_BYTES), AFTER])
      return inRange.all(session, low, end, MAX_CANDIDATES).map(row => ({
        body: Number(row['body']),
        digits: Number(row['bytes']) === LONG_LINK_BYTES ? 2 * LONG_LINK_BYTES : MIN_DIGITS.session,
      }))
    },
    unlink(body) {
      for (const row of ofBody.all(body)) {
        dropLink.run(row['session']!, row['hash']!, body)
        dropIfEmpty.run(row['session']!)
      }
    },
    disown: (tenant, name) => sessions.disown(tenant, nameHash(name)),
    disowned: sessions.disowned,
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

function nameHash(name: string | Uint8Array): Uint8Array {
  if (typeof name !== 'string') return name
  return hash('sha256', name, 'buffer').subarray(0, NAME_BYTES)
}
