import type { DatabaseSync } from 'node:sqlite'
import { dayOf } from './day-of.ts'
import { purgeDays, removeDays } from './day-sums.ts'
import { removeTexts, TEXT_MS } from './kept-texts.ts'
import { hourOf } from './write-rows.ts'

/** How much a ledger keeps. */
export interface LedgerLimits {
  /** Results, and turns, of each tenant. */
  readonly max_rows: number
  /** The size of the file, for all tenants. */
  readonly max_bytes: number
  /** How long rows and sums are kept, in milliseconds. */
  readonly ttl_ms: number
  /** How long sums of days are kept, in days. */
  readonly days: number
}

/** Share of all rows that goes at once if the file is too large. */
const STEP = 0.1
const MOST_STEPS = 8

/** Removes what is beyond the limits, the oldest rows first. */
export function prune(database: DatabaseSync, limits: LedgerLimits, now: number): void {
  const before = now - limits.ttl_ms
  for (const [table, time] of AGED) {
    const bound = time === 'hour' ? hourOf(before) : before
    database.prepare(`DELETE FROM ${table} WHERE ${time} < ?`).run(bound)
  }
  removeTexts(database, now - TEXT_MS)
  removeDays(database, dayOf(now) - limits.days)
  for (const table of ROWS) keepNewest(database, table, limits.max_rows)
  for (let step = 0; step < MOST_STEPS && bytesOf(database) > limits.max_bytes; step++) {
    for (const table of ROWS) removeOldest(database, table, 'id')
    for (const table of HOURS) removeOldest(database, table, 'hour')
    removeOldest(database, 'conversation', 'last_at')
    removeOldest(database, 'fetched', 'at')
    // They are few: the first half of the steps leaves them.
    if (step >= MOST_STEPS / 2) removeOldest(database, 'day', 'day')
    database.exec('PRAGMA incremental_vacuum')
  }
}

/** Removes everything of a tenant. */
export function purge(database: DatabaseSync, tenant: string): number {
  let removed = purgeDays(database, tenant)
  for (const [table] of AGED) {
    const { changes } = database.prepare(`DELETE FROM ${table} WHERE tenant = ?`).run(tenant)
    removed += Number(changes)
  }
  return removed
}

const ROWS = ['result', 'turn', 'passing'] as const

const HOURS = ['result_hour', 'turn_hour'] as const

const AGED = [
  ['result', 'at'],
  ['turn', 'at'],
  ['passing', 'at'],
  ['fetched', 'at'],
  ['conversation', 'last_at'],
  ['result_hour', 'hour'],
  ['turn_hour', 'hour'],
] as const

function keepNewest(database: DatabaseSync, table: (typeof ROWS)[number], most: number): void {
  const tenants = database
    .prepare(`SELECT tenant FROM ${table} GROUP BY tenant HAVING count(*) > ?`)
    .all(most)
  const oldest = database.prepare(
    `DELETE FROM ${table} WHERE tenant = ?1 AND id <=
     (SELECT id FROM ${table} WHERE tenant = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`,
  )
  for (const { tenant } of tenants) oldest.run(String(tenant), most)
}

function removeOldest(database: DatabaseSync, table: string, order: string): void {
  const bound = `SELECT min(${order}) + (max(${order}) - min(${order})) * ? FROM ${table}`
  database.prepare(`DELETE FROM ${table} WHERE ${order} <= (${bound})`).run(STEP)
}

function bytesOf(database: DatabaseSync): number {
  const of = (name: string) => Number(database.prepare(`PRAGMA ${name}`).get()?.[name])
  return (of('page_count') - of('freelist_count')) * of('page_size')
}
