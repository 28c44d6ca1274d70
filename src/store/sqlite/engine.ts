import type { DatabaseSync } from 'node:sqlite'
import type { PartSelector } from '../../core/parts/part.ts'
import type { WholeForPart } from '../parts/select-elsewhere.ts'
import type {
  Kept,
  PutItem,
  RecordKey,
  RecordWrite,
  Reference,
  Result,
  StoredBody,
  StoredPart,
  StoredRecord,
  TouchItem,
  VerifyStep,
} from '../store.ts'
import { createCodec, type UnreadableError } from '../values/codec.ts'
import { fail } from '../values/failure.ts'
import type { StoreEvent } from '../values/store-event.ts'
import type { StoreStats } from '../values/store-figures.ts'
import { Bodies } from './bodies.ts'
import type { BodyRow } from './body-row.ts'
import { createChunks } from './chunks.ts'
import type { Count } from './counters.ts'
import { createReader, Faults, type Reader } from './reader.ts'
import { Records } from './records.ts'
import { createRestore, type Restore } from './restore.ts'
import { createSessions, type Sessions } from './sessions.ts'
import type { Settings } from './settings.ts'
import { createSpace, createStats, type Space } from './space.ts'
import { createTenants, NO_TENANT, type Tenants } from './tenants.ts'
import { createTombstones } from './tombstones.ts'
import { type Progress, Upkeep } from './upkeep.ts'

/**
 * What the thread does with the file: plain functions, one short step each. Those in `writes` need
 * a write transaction, the others a read transaction; the commits opens both.
 */
export interface Engine {
  readonly reads: {
    get(reference: Reference): Result<StoredBody>
    part(reference: Reference, selector: PartSelector): Result<StoredPart | WholeForPart>
    readRecord(key: RecordKey): Result<StoredRecord>
    stats(tenant: string | undefined): Result<StoreStats>
    /** Finds damaged bodies; `removeDamaged` removes them. */
    verify(limit: number, cursor: number): Result<CheckedRows>
  }
  readonly writes: {
    put(item: PutItem): Result<Kept>
    touch(item: TouchItem): Result<Kept>
    writeRecord(write: RecordWrite): Result<{ readonly version: number }>
    deleteRecord(key: RecordKey, ifVersion: number | undefined): Result<object>
    /**
     * The first step of a purge: from now on nothing finds the data. `id` is for the following
     * steps. Work that upkeep does in between is not counted. For a tenant, everything is counted
     * here.
     */
    disownSession(tenant: string, session: string): Result<Step & { readonly id: number }>
    disownTenant(tenant: string): Result<Step & { readonly id: number }>
    purgeSession(id: number): Result<Step>
    purgeTenant(id: number): Result<Step>
    expire(): Result<Step>
    /** Removes what was found damaged and still is. */
    removeDamaged(): Result<Progress>
    /** Removes data whose time has ended, one step. */
    upkeep(): Result<Progress>
  }
  /** Before the first write of a transaction. */
  begun(): void
  /** Whether `upkeep` would find something to do. */
  upkeepDue(): boolean
  /** Returns unused pages to the file system, if many are unused; whether it did. */
  shrink(): boolean
  /** What writes rows of another file; needs a write transaction. */
  readonly restore: Restore
  /** Copies the log into the main file. */
  checkpoint(): void
}

/** A step of `verify`; the cursor is the last row's id. */
export interface CheckedRows extends Omit<VerifyStep, 'cursor'> {
  readonly cursor: number | null
}

export type Step = Progress & { readonly done: boolean }

export interface EngineDeps {
  readonly settings: Settings
  readonly clock: () => number
  readonly count: Count
  readonly counters: StoreStats['counters']
  onEvent(event: StoreEvent): void
}

/** Share of the file that may be unused before it shrinks, and pages of one step. */
const MAX_FREE = 1 / 8
const MIN_FREE_PAGES = 256
const SHRINK_PAGES = 64

/** What the engine is made of. */
interface Parts {
  readonly clock: () => number
  readonly tenants: Tenants
  readonly sessions: Sessions
  readonly space: Space
  readonly bodies: Bodies
  readonly records: Records
  readonly reader: Reader
  readonly upkeep: Upkeep
  readonly faults: Faults
  readonly stats: Engine['reads']['stats']
}

export function createEngine(database: DatabaseSync, deps: EngineDeps): Engine {
  const parts = createParts(database, deps)
  const { clock, bodies, records, tenants, sessions, space, upkeep, faults } = parts
  return {
    reads: createReads(parts),
    writes: createWrites(parts),
    begun: () => bodies.flushMarks(),
    upkeepDue: () => faults.hasDamage || upkeep.due(clock()),
    shrink() {
      const { total, free } = space.pages()
      if (free < Math.max(MIN_FREE_PAGES, total * MAX_FREE)) return false
      database.exec(`PRAGMA incremental_vacuum(${SHRINK_PAGES})`)
      return true
    },
    restore: createRestore(database, { bodies, records, tenants, sessions }),
    checkpoint: () => database.exec('PRAGMA wal_checkpoint(PASSIVE)'),
  }
}

function createParts(database: DatabaseSync, deps: EngineDeps): Parts {
  const { settings, clock, count, counters, onEvent } = deps
  const codec = createCodec(settings)
  const faults = new Faults(count, onEvent)
  const onUnreadable = (row: BodyRow, error: UnreadableError) => faults.noteUnreadable(row, error)
  const tenants = createTenants(database)
  const sessions = createSessions(database)
  const tombstones = createTombstones(database, settings)
  const chunks = createChunks(database, codec)
  const space = createSpace(database, {
    settings,
    tenants,
    evict: (tenant, now) => upkeep.evict(tenant, now),
  })
  const bodies = new Bodies(database, {
    settings,
    codec,
    chunks,
    tenants,
    sessions,
    tombstones,
    space,
    count,
    nextUse: createUses(database, clock),
    onUnreadable,
  })
  const records = new Records(database, {
    codec,
    tenants,
    space,
    onUnreadable({ tenant, namespace }, { missingKey }) {
      if (missingKey !== null) faults.noteMissing(missingKey)
      else onEvent({ kind: 'damaged_record', tenant, namespace })
    },
  })
  const rows = { bodies, records, tenants, sessions, tombstones, space, count }
  const upkeep = new Upkeep(database, rows)
  const reader = createReader(database, { bodies, chunks, count, onUnreadable })
  const stats = createStats(database, { settings, tenants, space, counters })
  return { clock, tenants, sessions, space, bodies, records, reader, upkeep, faults, stats }
}

function createReads({ clock, reader, records, faults, stats }: Parts): Engine['reads'] {
  return {
    get: reference => reader.get(reference, clock()),
    part: (reference, selector) => reader.part(reference, selector, clock()),
    readRecord: key => records.read(key, clock()),
    stats,
    verify(limit, cursor) {
      if (limit < 1) return fail('invalid_request', 'limit must be at least 1')
      const { damaged: rows, ...rest } = reader.check(limit, cursor)
      for (const row of rows) faults.noteDamage(row)
      return { ok: true, ...rest, damaged: rows.length }
    },
  }
}

function createWrites(parts: Parts): Engine['writes'] {
  const { clock, bodies, records, tenants, sessions, upkeep, faults, reader } = parts
  return {
    put: item => bodies.put(item, clock()),
    touch: item => bodies.touch(item, clock()),
    writeRecord: write => records.write(write, clock()),
    deleteRecord: (key, ifVersion) => records.delete(key, ifVersion, clock()),
    disownSession(tenant, name) {
      const id = sessions.disown(tenants.find(tenant), name)
      return { ok: true, id, ...upkeep.purgeSession(id, clock()) }
    },
    disownTenant(tenant) {
      const id = tenants.disown(tenant)
      const { bodies: all, records: values } = tenants.totals(id)
      return { ok: true, id, bodies: all, records: values, done: id === NO_TENANT }
    },
    purgeSession: id => ({ ok: true, ...upkeep.purgeSession(id, clock()) }),
    purgeTenant: id => ({ ok: true, ...upkeep.purgeTenant(id, clock()) }),
    expire() {
      const progress = upkeep.expire(clock())
      return { ok: true, ...progress, done: progress.bodies + progress.records === 0 }
    },
    removeDamaged() {
      return { ok: true, bodies: faults.removeDamaged(bodies, reader, clock()), records: 0 }
    },
    upkeep() {
      const now = clock()
      const damaged = faults.removeDamaged(bodies, reader, now)
      const { bodies: others, records: gone } = upkeep.step(now)
      return { ok: true, bodies: damaged + others, records: gone }
    },
  }
}

/**
 * Numbers in the order of use. They follow the clock, so that those of two processes mix, but never
 * go back with it.
 */
function createUses(database: DatabaseSync, clock: () => number): () => number {
  const newest = database.prepare('SELECT max(used) AS used FROM body WHERE pinned_until = 0')
  let last = Number(newest.get()?.['used'] ?? 0)
  return () => {
    last = Math.max(clock(), last + 1)
    return last
  }
}
