import type { DatabaseSync } from 'node:sqlite'
import { addFields } from '../../core/base/add-fields.ts'
import type { Bodies, BodiesDeps, Remains } from './bodies.ts'
import type { BodyRow } from './body-row.ts'
import type { Records } from './records.ts'
import { NO_SESSION } from './sessions.ts'
import { NO_TENANT } from './tenants.ts'

/** Rows that one step removes at most, so that a step stays short whatever there is to do. */
const STEP = 64

export interface Progress {
  readonly bodies: number
  readonly records: number
}

export interface UpkeepDeps
  extends Pick<BodiesDeps, 'tenants' | 'sessions' | 'tombstones' | 'space' | 'count'> {
  readonly bodies: Bodies
  readonly records: Records
}

/**
 * Removes data whose time has ended, a step at a time. Each call runs inside a transaction of the
 * caller's.
 */
export class Upkeep {
  readonly #deps: UpkeepDeps
  readonly #sql: Statements

  constructor(database: DatabaseSync, deps: UpkeepDeps) {
    this.#deps = deps
    this.#sql = prepareStatements(database)
  }

  /** Whether `step` would find something; reads only. */
  due(now: number): boolean {
    return (
      this.#sql.expired.get(now, 1) !== undefined ||
      this.#sql.lapsed.get(now) !== undefined ||
      this.#deps.tombstones.due(now) ||
      this.#deps.records.due(now) ||
      this.#deps.sessions.disowned() !== undefined ||
      this.#deps.tenants.disowned() !== undefined ||
      (this.#deps.space.short() && this.#sql.oldest.get() !== undefined)
    )
  }

  /** One step of everything; how much it removed. */
  step(now: number): Progress {
    const progress = addFields(this.expire(now), this.#purgeLeftovers(now))
    this.#sql.unpin.run(now, STEP)
    this.#deps.tombstones.sweep(now)
    let evicted = 0
    while (evicted < STEP && this.#deps.space.short() && this.evict(null, now)) evicted++
    return addFields(progress, { bodies: evicted, records: 0 })
  }

  /** One step of expired bodies and records alone. */
  expire(now: number): Progress {
    const rows = this.#sql.expired.all(now, STEP)
    const removed = this.#removeAll(
      rows.map(row => row['id']),
      'tombstone',
      now,
    )
    if (removed > 0) this.#deps.count('expired', removed)
    return { bodies: removed, records: this.#deps.records.expire(now, STEP) }
  }

  /** One step of a purge; `done` when nothing of it is left. */
  purgeSession(session: number, now: number) {
    if (!this.#deps.sessions.isDisowned(session)) return { ...NOTHING, done: true }
    const { orphans, done } = this.#deps.sessions.release(session, STEP)
    const lone = orphans.map(id => this.#deps.bodies.byId(id)).filter(row => row?.alone === false)
    for (const row of lone) {
      // A body that had expired before leaves what it would have left if it had been removed in
      // time.
      if (row !== undefined)
        this.#deps.bodies.remove(row, row.expiresAt <= now ? 'tombstone' : 'nothing', now)
    }
    return { bodies: lone.length, records: 0, done }
  }

  purgeTenant(tenant: number, now: number) {
    // Numbers are used again: this one may be a live tenant's by now.
    if (this.#deps.tenants.nameOf(tenant) !== null) return { ...NOTHING, done: true }
    const rows = this.#sql.ofTenant.all(tenant, STEP)
    const removed = this.#removeAll(
      rows.map(row => row['id']),
      'nothing',
      now,
    )
    const gone = this.#deps.records.removeOf(tenant, STEP)
    const others =
      this.#deps.sessions.removeOf(tenant, STEP) + this.#deps.tombstones.removeOf(tenant, STEP)
    const done = removed + gone + others === 0
    if (done) this.#deps.tenants.remove(tenant)
    return { bodies: removed, records: gone, done }
  }

  /** Removes the body that was used least recently and is not pinned. */
  evict(tenant: number | null, now: number): boolean {
    const next = () => (tenant === null ? this.#sql.oldest.get() : this.#sql.oldestOf.get(tenant))
    let row = next()
    // Pins that have ended are removed in steps. If nothing else may be evicted, they are removed
    // now.
    while (row === undefined && Number(this.#sql.unpin.run(now, STEP).changes) > 0) row = next()
    if (row === undefined) return false
    this.#removeAll([row['id']], 'tombstone', now)
    this.#deps.count('evicted')
    return true
  }

  #removeAll(ids: readonly unknown[], remains: Remains, now: number): number {
    const rows = ids
      .map(id => this.#deps.bodies.byId(Number(id)))
      .filter((row): row is BodyRow => !!row)
    for (const row of rows) this.#deps.bodies.remove(row, remains, now)
    return rows.length
  }

  /** Continues purges that a crash or a slow caller left unfinished. */
  #purgeLeftovers(now: number): Progress {
    const session = this.#deps.sessions.disowned() ?? NO_SESSION
    const tenant = this.#deps.tenants.disowned() ?? NO_TENANT
    const first = session === NO_SESSION ? NOTHING : this.purgeSession(session, now)
    const second = tenant === NO_TENANT ? NOTHING : this.purgeTenant(tenant, now)
    return addFields(first, second)
  }
}

type Statements = ReturnType<typeof prepareStatements>

function prepareStatements(database: DatabaseSync) {
  return {
    expired: database.prepare(
      'SELECT id FROM body WHERE expires_at <= ? ORDER BY expires_at LIMIT ?',
    ),
    unpin: database.prepare(
      `UPDATE body SET pinned_until = 0 WHERE id IN
       (SELECT id FROM body WHERE pinned_until > 0 AND pinned_until <= ? ORDER BY pinned_until LIMIT ?)`,
    ),
    lapsed: database.prepare(
      'SELECT 1 FROM body WHERE pinned_until > 0 AND pinned_until <= ? LIMIT 1',
    ),
    oldest: database.prepare('SELECT id FROM body WHERE pinned_until = 0 ORDER BY used LIMIT 1'),
    oldestOf: database.prepare(
      'SELECT id FROM body WHERE tenant = ? AND pinned_until = 0 ORDER BY used LIMIT 1',
    ),
    ofTenant: database.prepare('SELECT id FROM body WHERE tenant = ? LIMIT ?'),
  }
}

const NOTHING: Progress = { bodies: 0, records: 0 }
