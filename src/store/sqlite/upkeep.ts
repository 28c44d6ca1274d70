import type { DatabaseSync } from 'node:sqlite'
import type { Bodies, BodyRow, Remains } from './bodies.ts'
import type { Count } from './counters.ts'
import type { Records } from './records.ts'
import { NO_SESSION, type Sessions } from './sessions.ts'
import type { Space } from './space.ts'
import { NO_TENANT, type Tenants } from './tenants.ts'
import type { Tombstones } from './tombstones.ts'

/** Rows that one step removes at most, so that a step stays short whatever there is to do. */
const STEP = 64

/**
 * What goes away by itself, a step at a time. Each call runs inside a transaction of the caller's.
 */
export interface Upkeep {
  /** Whether `step` would find something; reads only. */
  due(now: number): boolean
  /** One step of everything; how much it removed. */
  step(now: number): Progress
  /** One step of expired bodies and records alone. */
  expire(now: number): Progress
  /** One step of a purge; `done` when nothing of it is left. */
  purgeSession(session: number, now: number): Progress & { readonly done: boolean }
  purgeTenant(tenant: number, now: number): Progress & { readonly done: boolean }
  /** Removes the body that was used least recently and is not pinned. */
  evict(tenant: number | null, now: number): boolean
}

export interface Progress {
  readonly bodies: number
  readonly records: number
}

export interface UpkeepDeps {
  readonly bodies: Bodies
  readonly records: Records
  readonly tenants: Tenants
  readonly sessions: Sessions
  readonly tombstones: Tombstones
  readonly space: Space
  readonly count: Count
}

export function createUpkeep(database: DatabaseSync, deps: UpkeepDeps): Upkeep {
  const { bodies, records, tenants, sessions, tombstones, space, count } = deps
  const expired = database.prepare(
    'SELECT id FROM body WHERE expires_at <= ? ORDER BY expires_at LIMIT ?',
  )
  const unpin = database.prepare(
    `UPDATE body SET pinned_until = 0 WHERE id IN
       (SELECT id FROM body WHERE pinned_until > 0 AND pinned_until <= ? ORDER BY pinned_until LIMIT ?)`,
  )
  const lapsed = database.prepare(
    'SELECT 1 FROM body WHERE pinned_until > 0 AND pinned_until <= ? LIMIT 1',
  )
  const oldest = database.prepare(
    'SELECT id FROM body WHERE pinned_until = 0 ORDER BY used LIMIT 1',
  )
  const oldestOf = database.prepare(
    'SELECT id FROM body WHERE tenant = ? AND pinned_until = 0 ORDER BY used LIMIT 1',
  )
  const ofTenant = database.prepare('SELECT id FROM body WHERE tenant = ? LIMIT ?')

  function removeAll(ids: readonly unknown[], remains: Remains, now: number): number {
    const rows = ids.map(id => bodies.byId(Number(id))).filter((row): row is BodyRow => !!row)
    for (const row of rows) bodies.remove(row, remains, now)
    return rows.length
  }

  function expire(now: number): Progress {
    const rows = expired.all(now, STEP)
    const removed = removeAll(
      rows.map(row => row['id']),
      'tombstone',
      now,
    )
    if (removed > 0) count('expired', removed)
    return { bodies: removed, records: records.expire(now, STEP) }
  }

  function evict(tenant: number | null, now: number): boolean {
    const next = () => (tenant === null ? oldest.get() : oldestOf.get(tenant))
    let row = next()
    // Pins that have run out are taken off in steps; where nothing else may go, now.
    while (row === undefined && Number(unpin.run(now, STEP).changes) > 0) row = next()
    if (row === undefined) return false
    removeAll([row['id']], 'tombstone', now)
    count('evicted')
    return true
  }

  function purgeSession(session: number, now: number) {
    if (!sessions.isDisowned(session)) return { ...NOTHING, done: true }
    const { orphans, done } = sessions.release(session, STEP)
    const lone = orphans.map(id => bodies.byId(id)).filter(row => row?.alone === false)
    for (const row of lone) {
      // What had expired before leaves what it would have left had it been swept in time.
      if (row !== undefined) bodies.remove(row, row.expiresAt <= now ? 'tombstone' : 'nothing', now)
    }
    return { bodies: lone.length, records: 0, done }
  }

  function purgeTenant(tenant: number, now: number) {
    // Numbers are used again: this one may be a live tenant's by now.
    if (tenants.nameOf(tenant) !== null) return { ...NOTHING, done: true }
    const rows = ofTenant.all(tenant, STEP)
    const removed = removeAll(
      rows.map(row => row['id']),
      'nothing',
      now,
    )
    const gone = records.removeOf(tenant, STEP)
    const others = sessions.removeOf(tenant, STEP) + tombstones.removeOf(tenant, STEP)
    const done = removed + gone + others === 0
    if (done) tenants.remove(tenant)
    return { bodies: removed, records: gone, done }
  }

  /** Goes on with purges that a crash or a slow caller left behind. */
  function purgeLeftovers(now: number): Progress {
    const session = sessions.disowned() ?? NO_SESSION
    const tenant = tenants.disowned() ?? NO_TENANT
    const first = session === NO_SESSION ? NOTHING : purgeSession(session, now)
    const second = tenant === NO_TENANT ? NOTHING : purgeTenant(tenant, now)
    return add(first, second)
  }

  return {
    due: now =>
      expired.get(now, 1) !== undefined ||
      lapsed.get(now) !== undefined ||
      tombstones.due(now) ||
      records.due(now) ||
      sessions.disowned() !== undefined ||
      tenants.disowned() !== undefined ||
      (space.short() && oldest.get() !== undefined),
    step(now) {
      const progress = add(expire(now), purgeLeftovers(now))
      unpin.run(now, STEP)
      tombstones.sweep(now)
      let evicted = 0
      while (evicted < STEP && space.short() && evict(null, now)) evicted++
      return add(progress, { bodies: evicted, records: 0 })
    },
    expire,
    purgeSession,
    purgeTenant,
    evict,
  }
}

const NOTHING: Progress = { bodies: 0, records: 0 }

function add(a: Progress, b: Progress): Progress {
  return { bodies: a.bodies + b.bodies, records: a.records + b.records }
}
