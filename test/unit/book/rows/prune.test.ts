import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openLedgerFile } from '../../../../src/book/rows/database.ts'
import { prune } from '../../../../src/book/rows/prune.ts'
import { purgeLedger } from '../../../../src/book/rows/purge-ledger.ts'
import { RowWriter } from '../../../../src/book/rows/write-rows.ts'
import { LIMITS, ledgerFolder } from '../../../support/ledger/own-ledger.ts'
import { resultOf, turnOf } from '../../../support/ledger/rows.ts'

const DAY_MS = 86_400_000

function open(folder = ledgerFolder()) {
  const database = openLedgerFile(folder)
  onTestFinished(() => {
    if (database.isOpen) database.close()
  })
  const writer = new RowWriter(database)
  const count = (table: string, tenant: string) =>
    Number(
      database.prepare(`SELECT count(*) AS n FROM ${table} WHERE tenant = ?`).get(tenant)?.['n'],
    )
  const fill = (tenant: string, rows: number, at = Date.now()) =>
    writer.write([
      ...Array.from({ length: rows }, () => result(tenant, 's', at)),
      ...Array.from({ length: rows }, () => ({ kind: 'turn', ...turnOf({ tenant, at }) }) as const),
      fetch(tenant, 'f', at),
    ])
  return { folder, database, count, fill }
}

const result = (tenant: string, session: string, at: number) =>
  ({ kind: 'result', ...resultOf(tenant, { session }, { at }) }) as const
const fetch = (tenant: string, original: string, at: number) =>
  ({ kind: 'fetch', tenant, at, original, bytes: 1 }) as const

const TABLES = ['result', 'turn', 'conversation', 'result_hour', 'turn_hour', 'fetched']

describe('limits of the ledger', () => {
  it('keeps the newest rows of each tenant, and all sums', () => {
    const { database, count, fill } = open()
    fill('a', 30)
    fill('b', 5)
    prune(database, { ...LIMITS, max_rows: 10 }, Date.now())
    expect([count('result', 'a'), count('turn', 'a'), count('result', 'b')]).toEqual([10, 10, 5])
    const oldest = database.prepare("SELECT min(id) AS id FROM result WHERE tenant = 'a'").get()
    expect(oldest?.['id']).toBe(21)
    const { results } = database
      .prepare("SELECT sum(results) AS results FROM result_hour WHERE tenant = 'a'")
      .get() as { results: number }
    expect(results).toBe(30)
  })

  it('removes everything that is too old', () => {
    const { database, count, fill } = open()
    fill('a', 3, Date.now() - 8 * DAY_MS)
    fill('b', 3)
    prune(database, LIMITS, Date.now())
    expect(TABLES.map(table => count(table, 'a'))).toEqual(TABLES.map(() => 0))
    expect(TABLES.map(table => count(table, 'b'))).not.toContain(0)
  })

  it('shrinks a file that is too large, the oldest rows first', () => {
    const { database, count, fill } = open()
    fill('a', 5_000)
    fill('b', 500)
    const pages = () => Number(database.prepare('PRAGMA page_count').get()?.['page_count'])
    const before = pages()
    prune(database, { ...LIMITS, max_rows: 1e6, max_bytes: (before * 4_096) / 2 }, Date.now())
    expect(pages()).toBeLessThanOrEqual(before / 2)
    expect(count('result', 'a')).toBeLessThan(5_000)
    expect(count('result', 'b')).toBe(500)
  })

  it('shrinks a file that is too large for its conversations', () => {
    const { database } = open()
    const at = Date.now()
    const each = Array.from({ length: 5_000 }, (_, i) => i)
    new RowWriter(database).write([
      ...each.map(i => result('a', `s${i}`, at - i)),
      ...each.map(i => fetch('a', `f${i}`, at - i)),
    ])
    database.exec('DELETE FROM result; PRAGMA incremental_vacuum')
    const pages = () => Number(database.prepare('PRAGMA page_count').get()?.['page_count'])
    const before = pages()
    prune(database, { ...LIMITS, max_bytes: (before * 4_096) / 2 }, at)
    expect(pages()).toBeLessThan(before * 0.6)
    const newest = database.prepare('SELECT max(last_at) AS at FROM conversation').get()
    expect(newest?.['at']).toBe(at)
  })

  it('forgets a tenant as a whole, also from another process', () => {
    const { folder, count, fill } = open()
    fill('a', 3)
    fill('b', 3)
    // 3 results, 3 requests, 2 conversations, 1 hour of each, 2 kinds of a day, and what was fetched.
    expect(purgeLedger(folder, 'a')).toBe(13)
    expect(TABLES.map(table => count(table, 'a'))).toEqual(TABLES.map(() => 0))
    expect(TABLES.map(table => count(table, 'b'))).not.toContain(0)
    expect(purgeLedger(ledgerFolder(), 'a')).toBe(0)
  })
})

describe('the file of the ledger', () => {
  it('is moved aside if it is damaged, and a new one begins', () => {
    const folder = ledgerFolder()
    writeFileSync(
      join(folder, 'ledger.sqlite'),
      'no database, and long enough to have a header'.repeat(99),
    )
    const { count, fill } = open(folder)
    fill('a', 1)
    expect(count('result', 'a')).toBe(1)
    expect(statSync(join(folder, 'ledger.sqlite.damaged')).size).toBeGreaterThan(0)
  })

  it('is moved aside if a later version wrote it', () => {
    const folder = ledgerFolder()
    const later = new DatabaseSync(join(folder, 'ledger.sqlite'))
    later.exec('CREATE TABLE result (other TEXT); PRAGMA user_version = 99')
    later.close()
    const { count, fill } = open(folder)
    fill('a', 1)
    expect(count('result', 'a')).toBe(1)
  })

  it('is for its owner only', () => {
    const { folder } = open()
    expect(statSync(join(folder, 'ledger.sqlite')).mode & 0o777).toBe(0o600)
  })
})
