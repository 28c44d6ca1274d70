import { hash as digest } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { countLines } from '../../core/parts/lines.ts'
import type { Failure, Kept, PutItem, Reference, Result, TouchItem } from '../store.ts'
import { type Codec, UnreadableError } from '../values/codec.ts'
import { fail, goneFailure } from '../values/failure.ts'
import { type HashRange, hashRange, MIN_DIGITS } from '../values/hash-range.ts'
import { type BodyRow, type BodyStatements, prepareBodyStatements, toBodyRow } from './body-row.ts'
import { CHUNK_BYTES, type Chunks, type SealedChunk } from './chunks.ts'
import type { Count } from './counters.ts'
import { NO_SESSION, type Sessions } from './sessions.ts'
import type { Settings } from './settings.ts'
import type { Space } from './space.ts'
import type { Tenants } from './tenants.ts'
import type { Tombstones } from './tombstones.ts'

/** What a removed body leaves: nothing, or a tombstone. */
export type Remains = 'nothing' | 'tombstone'

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
  /** Called for a body that cannot be read. */
  onUnreadable(row: BodyRow, error: UnreadableError): void
}

/** What rows and index entries of a body take, on top of its chunks. */
const ROW_BYTES = 400
/** Reads noted between two writes; more are forgotten, which only makes eviction less exact. */
const MAX_MARKS = 256

/** Rows of bodies. Everything here runs inside a transaction of the caller's. */
export class Bodies {
  readonly #deps: BodiesDeps
  readonly #sql: BodyStatements
  /** Uses that are not written yet, by body. */
  readonly #marks = new Map<number, number>()

  constructor(database: DatabaseSync, deps: BodiesDeps) {
    this.#deps = deps
    this.#sql = prepareBodyStatements(database)
  }

  put(item: PutItem, now: number): Result<Kept> {
    if (item.body.byteLength > this.#deps.settings.maxBodyBytes) {
      return fail('too_large', `an original may have ${this.#deps.settings.maxBodyBytes} bytes`)
    }
    const hash = digest('sha256', item.body, 'buffer')
    const tenant = this.#deps.tenants.findOrAdd(item.tenant)
    if (this.#isTaken(tenant, item, hash)) {
      return fail('ambiguous', 'another body of the session has the same first digits')
    }
    const row = toBodyRow(this.#sql.byHash.get(tenant, hash))
    if (row === undefined) return this.#create(item, tenant, hash, now)
    if (row.expiresAt <= now) {
      this.remove(row, 'nothing', now)
      return this.#create(item, tenant, hash, now)
    }
    if (!this.#readable(row, item.body.byteLength)) return this.#repair(row, item, now)
    this.#link(item, tenant, row.id, hash)
    return this.#prolong(row, item, item.session === undefined, now)
  }

  touch(item: TouchItem, now: number): Result<Kept> {
    const row = this.find(item, now)
    return 'ok' in row ? row : this.#prolong(row, item, false, now)
  }

  /** The one live body that a reference means. */
  find(reference: Reference, now: number): BodyRow | Failure {
    const { session } = reference
    const minimum = session === undefined ? MIN_DIGITS.tenant : MIN_DIGITS.session
    const range = hashRange(reference.ref)
    if (range === undefined || range.digits < minimum) {
      return fail('invalid_request', `a reference is ${minimum} to 64 hex digits`)
    }
    const tenant = this.#deps.tenants.find(reference.tenant)
    let rows = session === undefined ? [] : this.#inSession(tenant, session, range, now)
    if (rows.length === 0 && range.digits >= MIN_DIGITS.tenant) {
      rows = this.#sql.inRange.all(tenant, range.low, range.high, now).map(row => toBodyRow(row)!)
    }
    if (rows.length > 1) return fail('ambiguous', `several originals begin with ${reference.ref}`)
    if (rows[0] !== undefined) return rows[0]
    // Both are always asked, because the time must not reveal which one was found.
    const over = this.#sql.expired.get(tenant, range.low, range.high, now)
    const removedAt = this.#deps.tombstones.removedAt(tenant, range, now)
    if (over !== undefined) return goneFailure(reference.ref, Number(over['expires_at']), false)
    if (removedAt !== null) return goneFailure(reference.ref, removedAt, true)
    return fail('not_found', `no original ${reference.ref} is kept`)
  }

  byId(id: number): BodyRow | undefined {
    return toBodyRow(this.#sql.byId.get(id))
  }

  /** Whether its hash leads to it. */
  isListed({ id, tenant, hash }: BodyRow): boolean {
    return this.#sql.byHash.get(tenant, hash)?.['id'] === id
  }

  remove(row: BodyRow, remains: Remains, now: number): void {
    this.#deps.chunks.remove(row.id)
    this.#deps.sessions.unlink(row.id)
    this.#sql.erase.run(row.id)
    this.#marks.delete(row.id)
    this.#deps.tenants.change(row.tenant, { bodies: -1, records: 0, bytes: -row.charge })
    if (remains === 'tombstone') this.#deps.tombstones.add(row.tenant, row.hash, now)
  }

  /** Notes that a body was read; written with the next transaction, for the order of eviction. */
  markUsed(row: BodyRow): void {
    if (this.#marks.size < MAX_MARKS) this.#marks.set(row.id, this.#deps.nextUse())
  }

  flushMarks(): void {
    for (const [id, use] of this.#marks) this.#sql.mark.run(use, id, use)
    this.#marks.clear()
  }

  /** Never shortens what was promised earlier; a pin promises life until its end. */
  #prolong(row: BodyRow, item: Omit<TouchItem, keyof Reference>, alone: boolean, now: number) {
    const wanted = now + (item.ttlMs ?? this.#deps.settings.ttlMs)
    const pin = item.pinUntil !== undefined && item.pinUntil > now ? item.pinUntil : 0
    const expires_at = Math.max(row.expiresAt, wanted, pin)
    this.#sql.refresh.run(expires_at, pin, this.#deps.nextUse(), alone ? 1 : 0, row.id)
    this.#deps.count('refreshed')
    return { ok: true, ...kept(row), expires_at, created: false } as const
  }

  #seal({ tenant, body }: PutItem, hash: Uint8Array) {
    const sealed = this.#deps.chunks.seal(body, { tenantName: tenant, hash })
    return { sealed, charge: sealed.reduce((sum, { data }) => sum + data.byteLength, ROW_BYTES) }
  }

  #create(item: PutItem, tenant: number, hash: Uint8Array, now: number): Result<Kept> {
    const { body } = item
    const { sealed, charge } = this.#seal(item, hash)
    const refusal = this.#deps.space.claim(tenant, charge, now)
    if (refusal !== undefined) return refusal
    const lines = linesOf(body, sealed)
    const pin = item.pinUntil !== undefined && item.pinUntil > now ? item.pinUntil : 0
    const expires_at = Math.max(now + (item.ttlMs ?? this.#deps.settings.ttlMs), pin)
    const { lastInsertRowid } = this.#sql.insert.run(
      tenant,
      hash,
      body.byteLength,
      charge,
      lines,
      sealed.length,
      item.mediaType,
      this.#deps.codec.keyId,
      item.session === undefined ? 1 : 0,
      now,
      expires_at,
      pin,
      this.#deps.nextUse(),
    )
    const id = Number(lastInsertRowid)
    this.#deps.chunks.write(id, sealed)
    this.#deps.tombstones.remove(tenant, hash)
    this.#deps.tenants.change(tenant, { bodies: 1, records: 0, bytes: charge })
    this.#link(item, tenant, id, hash)
    this.#deps.count('created')
    return { ok: true, hash: hex(hash), bytes: body.byteLength, expires_at, created: true }
  }

  /** Whether the body can be read; a put must not promise a body that a get cannot return. */
  #readable(row: BodyRow, bytes: number): boolean {
    try {
      if (row.bytes !== bytes) throw new UnreadableError(null)
      this.#deps.chunks.check(row)
      return true
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error
      this.#deps.onUnreadable(row, error)
      return false
    }
  }

  /** Writes the content again, with the current key. Promises and sessions stay. */
  #repair(row: BodyRow, item: PutItem, now: number): Result<Kept> {
    const { sealed, charge } = this.#seal(item, row.hash)
    const more = charge - row.charge
    const refusal = more > 0 ? this.#deps.space.claim(row.tenant, more, now) : undefined
    if (refusal !== undefined) return refusal
    // Making room may have evicted this very body.
    if (this.#sql.byId.get(row.id) === undefined)
      return this.#create(item, row.tenant, row.hash, now)
    this.#deps.chunks.remove(row.id)
    this.#deps.chunks.write(row.id, sealed)
    const bytes = item.body.byteLength
    this.#sql.rewrite.run(
      bytes,
      charge,
      linesOf(item.body, sealed),
      sealed.length,
      this.#deps.codec.keyId,
      row.id,
    )
    this.#deps.tenants.change(row.tenant, { bodies: 0, records: 0, bytes: more })
    this.#deps.count('created')
    this.#link(item, row.tenant, row.id, row.hash)
    return { ...this.#prolong(row, item, item.session === undefined, now), bytes, created: true }
  }

  /** Live bodies of one session in the range; two are enough to know that it is ambiguous. */
  #inSession(tenant: number, name: string, range: HashRange, now: number): BodyRow[] {
    const session = this.#deps.sessions.find(tenant, name)
    if (session === NO_SESSION) return []
    return this.#deps.sessions
      .candidates(session, range)
      .filter(({ digits }) => digits <= range.digits)
      .map(({ body }) => toBodyRow(this.#sql.byId.get(body)))
      .filter(row => row !== undefined)
      .filter(row => row.expiresAt > now && within(row.hash, range))
  }

  /**
   * Whether the reference could also name another body of the session, live or not. That body keeps
   * the reference.
   */
  #isTaken(tenant: number, { session: name, ref }: PutItem, hash: Uint8Array): boolean {
    if (name === undefined) return false
    const session = this.#deps.sessions.find(tenant, name)
    const range = hashRange(hex(hash).slice(0, MIN_DIGITS.session))
    if (session === NO_SESSION || range === undefined) return false
    const own = isLong(ref) ? ref!.length : MIN_DIGITS.session
    return this.#deps.sessions.candidates(session, range).some(({ body, digits }) => {
      const row = toBodyRow(this.#sql.byId.get(body))
      if (row === undefined || hex(row.hash) === hex(hash)) return false
      const shared = Math.max(own, digits)
      return hex(row.hash).slice(0, shared) === hex(hash).slice(0, shared)
    })
  }

  #link({ session, ref }: PutItem, tenant: number, body: number, hash: Uint8Array): void {
    if (session === undefined) return
    this.#deps.sessions.link({ tenant, name: session, body, hash, isLong: isLong(ref) })
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
