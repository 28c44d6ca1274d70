import { hash as digest } from 'node:crypto'
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { countLines } from '../../core/parts/lines.ts'
import { fail } from '../failure.ts'
import { type HashRange, hashRange, MIN_DIGITS } from '../hash-range.ts'
import type { Failure, Kept, PutItem, Reference, Result, TouchItem } from '../store.ts'
import { CHUNK_BYTES, type Chunks, type SealedChunk } from './chunks.ts'
import { type Codec, UnreadableError } from './codec.ts'
import type { Count } from './counters.ts'
import { NO_SESSION, type Sessions } from './sessions.ts'
import type { Settings } from './settings.ts'
import type { Space } from './space.ts'
import type { Tenants } from './tenants.ts'
import type { Tombstones } from './tombstones.ts'

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

/** What a removed body leaves: nothing, or a tombstone. */
export type Remains = 'nothing' | 'tombstone'

/** Rows of bodies. Everything here runs inside a transaction of the caller's. */
export interface Bodies {
  put(item: PutItem, now: number): Result<Kept>
  touch(item: TouchItem, now: number): Result<Kept>
  /** The one live body that a reference means. */
  find(reference: Reference, now: number): BodyRow | Failure
  byId(id: number): BodyRow | undefined
  /** Whether its hash leads to it. */
  isListed(row: BodyRow): boolean
  remove(row: BodyRow, remains: Remains, now: number): void
  /** Notes that a body was read; written with the next transaction, for the order of eviction. */
  markUsed(row: BodyRow): void
  flushMarks(): void
}

export interface BodiesDeps {
  readonly settings: Settings
  readonly codec: Codec
  readonly chunks: Chunks
  readonly tenants: Tenants
  readonly sessions: Sessions
  readonly tombstones: Tombstones
  readonly space: Space
  readonly count: Count
  /** The next number in the order of use. */
  nextUse(): number
  /** Told of a body that cannot be read. */
  onUnreadable(row: BodyRow, error: UnreadableError): void
}

/** What rows and index entries of a body take, on top of its chunks. */
const ROW_BYTES = 400
/** Reads noted between two writes; more are forgotten, which only makes eviction less exact. */
const MAX_MARKS = 256

const COLUMNS = `body.id, body.tenant, tenant.name AS tenant_name, body.hash, body.bytes, body.charge, body.lines,
  body.key_id, body.media_type, body.alone, body.created_at, body.expires_at`
const FROM = `SELECT ${COLUMNS} FROM body JOIN tenant ON tenant.id = body.tenant WHERE`

export function createBodies(database: DatabaseSync, deps: BodiesDeps): Bodies {
  const { settings, codec, chunks, tenants, sessions, tombstones, space, count } = deps
  const byId = database.prepare(`${FROM} body.id = ?`)
  const byHash = database.prepare(`${FROM} body.tenant = ? AND hash = ?`)
  const inRange = database.prepare(
    `${FROM} body.tenant = ? AND hash BETWEEN ? AND ? AND expires_at > ? LIMIT 2`,
  )
  const expired = database.prepare(
    'SELECT 1 FROM body WHERE tenant = ? AND hash BETWEEN ? AND ? AND expires_at <= ? LIMIT 1',
  )
  const insert = database.prepare(
    `INSERT INTO body (tenant, hash, bytes, charge, lines, chunks, media_type, key_id, alone, created_at,
       expires_at, pinned_until, used) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const refresh = database.prepare(
    `UPDATE body SET expires_at = ?, pinned_until = max(pinned_until, ?), used = ?, alone = max(alone, ?)
       WHERE id = ?`,
  )
  const rewrite = database.prepare(
    'UPDATE body SET bytes = ?, charge = ?, lines = ?, chunks = ?, key_id = ? WHERE id = ?',
  )
  const mark = database.prepare('UPDATE body SET used = ? WHERE id = ? AND used < ?')
  const erase = database.prepare('DELETE FROM body WHERE id = ?')
  const marks = new Map<number, number>()

  /** Never shortens what was promised earlier; a pin promises life until its end. */
  function prolong(
    row: BodyRow,
    item: Omit<TouchItem, keyof Reference>,
    alone: boolean,
    now: number,
  ) {
    const wanted = now + (item.ttlMs ?? settings.ttlMs)
    const pin = item.pinUntil !== undefined && item.pinUntil > now ? item.pinUntil : 0
    const expires_at = Math.max(row.expiresAt, wanted, pin)
    refresh.run(expires_at, pin, deps.nextUse(), alone ? 1 : 0, row.id)
    count('refreshed')
    return { ok: true, ...kept(row), expires_at, created: false } as const
  }

  function seal({ tenant, body }: PutItem, hash: Uint8Array) {
    const sealed = chunks.seal(body, { tenantName: tenant, hash })
    return { sealed, charge: sealed.reduce((sum, { data }) => sum + data.byteLength, ROW_BYTES) }
  }

  function create(item: PutItem, tenant: number, hash: Uint8Array, now: number): Result<Kept> {
    const { body } = item
    const { sealed, charge } = seal(item, hash)
    const refusal = space.claim(tenant, charge, now)
    if (refusal !== undefined) return refusal
    const lines = linesOf(body, sealed)
    const pin = item.pinUntil !== undefined && item.pinUntil > now ? item.pinUntil : 0
    const expires_at = Math.max(now + (item.ttlMs ?? settings.ttlMs), pin)
    const { lastInsertRowid } = insert.run(
      tenant,
      hash,
      body.byteLength,
      charge,
      lines,
      sealed.length,
      item.mediaType,
      codec.keyId,
      item.session === undefined ? 1 : 0,
      now,
      expires_at,
      pin,
      deps.nextUse(),
    )
    const id = Number(lastInsertRowid)
    chunks.write(id, sealed)
    tombstones.remove(tenant, hash)
    tenants.change(tenant, { bodies: 1, records: 0, bytes: charge })
    link(item, tenant, id, hash)
    count('created')
    return { ok: true, hash: hex(hash), bytes: body.byteLength, expires_at, created: true }
  }

  /** Whether it can be given back; a put must not promise what a get would not find. */
  function readable(row: BodyRow, bytes: number): boolean {
    try {
      if (row.bytes !== bytes) throw new UnreadableError(null)
      chunks.check(row)
      return true
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error
      deps.onUnreadable(row, error)
      return false
    }
  }

  /**
   * Writes the content again, with the key that writes now; promises and sessions stay as they are.
   */
  function repair(row: BodyRow, item: PutItem, now: number): Result<Kept> {
    const { sealed, charge } = seal(item, row.hash)
    const more = charge - row.charge
    const refusal = more > 0 ? space.claim(row.tenant, more, now) : undefined
    if (refusal !== undefined) return refusal
    // It may have been the one that had to go.
    if (byId.get(row.id) === undefined) return create(item, row.tenant, row.hash, now)
    chunks.remove(row.id)
    chunks.write(row.id, sealed)
    const bytes = item.body.byteLength
    rewrite.run(bytes, charge, linesOf(item.body, sealed), sealed.length, codec.keyId, row.id)
    tenants.change(row.tenant, { bodies: 0, records: 0, bytes: more })
    count('created')
    link(item, row.tenant, row.id, row.hash)
    return { ...prolong(row, item, item.session === undefined, now), bytes, created: true }
  }

  function remove(row: BodyRow, remains: Remains, now: number): void {
    chunks.remove(row.id)
    sessions.unlink(row.id)
    erase.run(row.id)
    marks.delete(row.id)
    tenants.change(row.tenant, { bodies: -1, records: 0, bytes: -row.charge })
    if (remains === 'tombstone') tombstones.add(row.tenant, row.hash, now)
  }

  /** Live bodies of one session in the range; two are enough to know that it is ambiguous. */
  function inSession(tenant: number, name: string, range: HashRange, now: number): BodyRow[] {
    const session = sessions.find(tenant, name)
    if (session === NO_SESSION) return []
    return sessions
      .candidates(session, range)
      .filter(({ digits }) => digits <= range.digits)
      .map(({ body }) => toRow(byId.get(body)))
      .filter(row => row !== undefined)
      .filter(row => row.expiresAt > now && within(row.hash, range))
  }

  /**
   * Whether a reference could name it and another body of the session, live or not: that must stay
   * its own.
   */
  function isTaken(tenant: number, { session: name, ref }: PutItem, hash: Uint8Array): boolean {
    if (name === undefined) return false
    const session = sessions.find(tenant, name)
    const range = hashRange(hex(hash).slice(0, MIN_DIGITS.session))
    if (session === NO_SESSION || range === undefined) return false
    const own = isLong(ref) ? ref!.length : MIN_DIGITS.session
    return sessions.candidates(session, range).some(({ body, digits }) => {
      const row = toRow(byId.get(body))
      if (row === undefined || hex(row.hash) === hex(hash)) return false
      const shared = Math.max(own, digits)
      return hex(row.hash).slice(0, shared) === hex(hash).slice(0, shared)
    })
  }

  function link({ session, ref }: PutItem, tenant: number, body: number, hash: Uint8Array): void {
    if (session === undefined) return
    sessions.link({ tenant, name: session, body, hash, isLong: isLong(ref) })
  }

  function find(reference: Reference, now: number): BodyRow | Failure {
    const { session } = reference
    const minimum = session === undefined ? MIN_DIGITS.tenant : MIN_DIGITS.session
    const range = hashRange(reference.ref)
    if (range === undefined || range.digits < minimum) {
      return fail('invalid_request', `a reference is ${minimum} to 64 hex digits`)
    }
    const tenant = tenants.find(reference.tenant)
    let rows = session === undefined ? [] : inSession(tenant, session, range, now)
    if (rows.length === 0 && range.digits >= MIN_DIGITS.tenant) {
      rows = inRange.all(tenant, range.low, range.high, now).map(row => toRow(row)!)
    }
    if (rows.length > 1) return fail('ambiguous', `several originals begin with ${reference.ref}`)
    if (rows[0] !== undefined) return rows[0]
    // Both are asked whatever the first says: the answer's time must not tell.
    const over = expired.get(tenant, range.low, range.high, now) !== undefined
    const dead = tombstones.has(tenant, range, now)
    return over || dead
      ? fail('gone', `the original ${reference.ref} has expired`)
      : fail('not_found', `no original ${reference.ref} is kept`)
  }

  return {
    put(item, now) {
      if (item.body.byteLength > settings.maxBodyBytes) {
        return fail('too_large', `an original may have ${settings.maxBodyBytes} bytes`)
      }
      const hash = digest('sha256', item.body, 'buffer')
      const tenant = tenants.findOrAdd(item.tenant)
      if (isTaken(tenant, item, hash)) {
        return fail('ambiguous', 'another body of the session has the same first digits')
      }
      const row = toRow(byHash.get(tenant, hash))
      if (row === undefined) return create(item, tenant, hash, now)
      if (row.expiresAt <= now) {
        remove(row, 'nothing', now)
        return create(item, tenant, hash, now)
      }
      if (!readable(row, item.body.byteLength)) return repair(row, item, now)
      link(item, tenant, row.id, hash)
      return prolong(row, item, item.session === undefined, now)
    },
    touch(item, now) {
      const row = find(item, now)
      return 'ok' in row ? row : prolong(row, item, false, now)
    },
    find,
    byId: id => toRow(byId.get(id)),
    isListed: ({ id, tenant, hash }) => byHash.get(tenant, hash)?.['id'] === id,
    remove,
    markUsed(row) {
      if (marks.size < MAX_MARKS) marks.set(row.id, deps.nextUse())
    },
    flushMarks() {
      for (const [id, use] of marks) mark.run(use, id, use)
      marks.clear()
    },
  }
}

/** The fields of an answer that come from the row as it is. */
export function kept(row: BodyRow): Omit<Kept, 'created'> {
  return { hash: hex(row.hash), bytes: row.bytes, expires_at: row.expiresAt }
}

/** Whether a body is named in its session by more than the shortest reference. */
function isLong(ref: string | undefined): boolean {
  return ref !== undefined && ref.length > MIN_DIGITS.session
}

function hex(hash: Uint8Array): string {
  return Buffer.from(hash).toString('hex')
}

function within(hash: Uint8Array, { low, high }: HashRange): boolean {
  return Buffer.compare(hash, low) >= 0 && Buffer.compare(hash, high) <= 0
}

/** Lines of a body, of whose last chunk the first line is known. */
function linesOf(body: Uint8Array, chunks: readonly SealedChunk[]): number {
  const last = chunks.at(-1)
  if (last === undefined) return 0
  return last.line - 1 + countLines(body.subarray((chunks.length - 1) * CHUNK_BYTES))
}

function toRow(row: Record<string, SQLOutputValue> | undefined): BodyRow | undefined {
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
