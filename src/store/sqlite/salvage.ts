import { hash as digest } from 'node:crypto'
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { DatabaseSync, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Failure } from '../store.ts'
import { createCodec } from '../values/codec.ts'
import type { SalvageEvent } from '../values/store-event.ts'
import { createChunks } from './chunks.ts'
import { openRecord, type Row } from './records.ts'
import type { Restore } from './restore.ts'
import type { Settings } from './settings.ts'

/**
 * Carries over what a damaged file still has, a row at a time: records first, then bodies whose
 * hash is right. Rows that cannot be read, or have a wrong checksum, are counted as lost.
 */
export interface Salvage {
  /** While it is so, a record that is not found may still come. */
  readonly isAtRecords: boolean
  /**
   * Carries one row over, inside a transaction of the caller's; `false` when there is none left.
   */
  next(restore: Restore, now: number): boolean
  /** What was carried over so far. */
  sum(): SalvageEvent
  close(): void
}

/** How one row ended; `over`: expired or purged, so that nothing is lost. */
type Fate = 'kept' | 'lost' | 'over'

interface Tally {
  kept: number
  lost: number
  over: number
}

/** @param target the main file's new name */
export function createSalvage(target: string, settings: Settings): Salvage {
  const source = openSource(target)
  const codec = createCodec(settings)
  const tally = { records: zero(), bodies: zero() }
  const rows = source === null ? null : readerOf(source, codec)
  let phase: 'records' | 'bodies' = 'records'

  function fateOf(restore: Restore, row: Row, now: number): Fate {
    if (rows === null) return 'lost'
    try {
      const found = phase === 'records' ? rows.record(row) : rows.body(row)
      if (found === 'over' || found === 'lost') return found
      const end = 'value' in found ? found.expires_at : found.expiresAt
      if (end !== null && end <= now) return 'over'
      const refusal: Failure | undefined =
        'value' in found ? restore.record(found) : restore.body(found, now)
      return refusal === undefined ? 'kept' : 'lost'
    } catch (error) {
      if (rows.isOfSource(error)) return 'lost'
      throw error
    }
  }

  return {
    get isAtRecords() {
      return phase === 'records'
    },
    next(restore, now) {
      const row = rows?.walk[phase].next()
      if (row !== undefined) {
        tally[phase][fateOf(restore, row, now)]++
        return true
      }
      if (phase === 'bodies' || rows === null) return false
      phase = 'bodies'
      return true
    },
    sum: () => ({
      kind: 'salvaged',
      moved_to: target,
      bodies: tally.bodies.kept,
      lost_bodies: lost(tally.bodies, rows?.walk.bodies, rows?.total('bodies')),
      records: tally.records.kept,
      lost_records: lost(tally.records, rows?.walk.records, rows?.total('records')),
    }),
    close: () => source?.close(),
  }
}

function zero(): Tally {
  return { kept: 0, lost: 0, over: 0 }
}

/**
 * The number of rows that the file should have had and that were not carried over; `null` if it is
 * unknown and rows are missing.
 */
function lost(tally: Tally, walk: RowWalk | undefined, total: number | null = null): number | null {
  if (total === null) return walk === undefined || walk.gaps > 0 ? null : tally.lost
  return Math.max(tally.lost, total - tally.kept - tally.over)
}

function readerOf(source: DatabaseSync, codec: ReturnType<typeof createCodec>) {
  const raised = new WeakSet<Error>()
  /** Marks errors of the source, so that they do not count as failures of the new file. */
  function read<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      if (error instanceof Error) raised.add(error)
      throw error
    }
  }
  const prepared = new Map<string, StatementSync>()
  function query(sql: string): StatementSync {
    const known = prepared.get(sql) ?? source.prepare(sql)
    prepared.set(sql, known)
    return known
  }
  const walkOf = (table: string) =>
    createRowWalk(id =>
      query(`SELECT * FROM ${table} NOT INDEXED WHERE id > ? ORDER BY id LIMIT 1`).get(id),
    )

  /** `null` for one that is being purged. */
  function tenantOf(row: Row): string | null {
    const found = query('SELECT name FROM tenant NOT INDEXED WHERE id = ?').get(row['tenant']!)
    if (found === undefined) throw new Error('its tenant is missing')
    return found['name'] as string | null
  }

  function sessionsOf(row: Row): Uint8Array[] {
    return query(
      `SELECT name FROM link JOIN session ON session.id = link.session
         WHERE link.body = ? AND session.tenant = ?`,
    )
      .all(row['id']!, row['tenant']!)
      .map(({ name }) => name)
      .filter(name => name instanceof Uint8Array)
  }

  return {
    walk: { records: walkOf('record'), bodies: walkOf('body') },
    isOfSource: (error: unknown) => error instanceof Error && raised.has(error),
    total(column: 'bodies' | 'records'): number | null {
      try {
        const sql = `SELECT coalesce(sum(${column}), 0) AS total FROM tenant WHERE name IS NOT NULL`
        return Number(query(sql).get()?.['total'])
      } catch {
        return null
      }
    },
    record: (row: Row) =>
      read(() => {
        const tenant = tenantOf(row)
        if (tenant === null) return 'over' as const
        const key = { tenant, namespace: textOf(row['namespace']), key: textOf(row['key']) }
        return { ...key, ...openRecord(codec, row, key) }
      }),
    body: (row: Row) =>
      read(() => {
        const tenant = tenantOf(row)
        if (tenant === null) return 'over' as const
        const hash = row['hash'] as Uint8Array
        const bytes = Number(row['bytes'])
        const keyId = row['key_id'] as string | null
        const owner = { id: Number(row['id']), tenantName: tenant, hash, bytes, keyId }
        const body = createChunks(source, codec).readAll(owner)
        if (!digest('sha256', body, 'buffer').equals(hash)) return 'lost' as const
        const alone = row['alone'] === 1
        const sessions = sessionsOf(row)
        // A session's purge must find what only that session keeps.
        if (!alone && sessions.length === 0) return 'lost' as const
        return {
          tenant,
          hash,
          body,
          mediaType: textOf(row['media_type']),
          alone,
          createdAt: timeOf(row['created_at']),
          expiresAt: timeOf(row['expires_at']),
          pinnedUntil: timeOf(row['pinned_until']),
          used: timeOf(row['used']),
          sessions,
        }
      }),
  }
}

function textOf(value: SQLOutputValue | undefined): string {
  if (typeof value !== 'string') throw new Error('no text')
  return value
}

function timeOf(value: SQLOutputValue | undefined): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw new Error('no time')
  return value
}

const MAGIC = 'SQLite format 3\0'

/**
 * Opens the file with its log, or the log alone if the two were swapped; `null` if neither is a
 * database.
 */
function openSource(target: string): DatabaseSync | null {
  for (const path of [target, `${target}-wal`]) {
    try {
      if (!isDatabase(path)) continue
      const url = pathToFileURL(path)
      // A log that is a database has none itself.
      if (path !== target) url.search = '?immutable=1'
      const database = new DatabaseSync(url, { readOnly: true })
      database.prepare('SELECT count(*) FROM sqlite_schema').get()
      return database
    } catch {
      // Then the other; that neither can be opened is in the sum.
    }
  }
  return null
}

function isDatabase(path: string): boolean {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < MAGIC.length) return false
  const file = openSync(path, 'r')
  try {
    const head = Buffer.alloc(MAGIC.length)
    readSync(file, head, 0, MAGIC.length, 0)
    return head.toString('latin1') === MAGIC
  } finally {
    closeSync(file)
  }
}

/**
 * The rows of a table that may be damaged, in the order of their ids. Rows that cannot be read are
 * skipped.
 */
interface RowWalk {
  next(): Row | undefined
  /** Places at which rows may be missing. */
  readonly gaps: number
}

/** No id is as large. */
const LAST_ID = 2 ** 48

/** @param after the first row after an id; may throw */
export function createRowWalk(after: (id: number) => Row | undefined): RowWalk {
  let cursor = 0
  let gaps = 0

  /** Returns `null` if the row there cannot be read. */
  function tryAfter(id: number): Row | undefined | null {
    try {
      const row = after(id)
      // A misplaced page may lead to smaller ids.
      return row !== undefined && !(Number(row['id']) > id) ? null : row
    } catch {
      return null
    }
  }

  /**
   * The first row after the gap at the cursor: by doubled steps, then the smallest step that
   * works.
   */
  function beyond(): Row | undefined {
    let bad = 0
    let good = 1
    while (tryAfter(cursor + good) === null) {
      bad = good
      good *= 2
      if (good > LAST_ID) return undefined
    }
    while (good - bad > 1) {
      const middle = Math.floor((bad + good) / 2)
      if (tryAfter(cursor + middle) === null) bad = middle
      else good = middle
    }
    return tryAfter(cursor + good) ?? undefined
  }

  return {
    get gaps() {
      return gaps
    },
    next() {
      let row = tryAfter(cursor)
      if (row === null) {
        gaps++
        row = beyond()
      }
      if (row !== undefined) cursor = Number(row['id'])
      else cursor = LAST_ID
      return row
    },
  }
}
