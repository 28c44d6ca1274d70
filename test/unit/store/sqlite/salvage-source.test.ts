import { hash } from 'node:crypto'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { RestoredRecord } from '../../../../src/store/sqlite/records.ts'
import type { Restore, RestoredBody } from '../../../../src/store/sqlite/restore.ts'
import { createSalvage } from '../../../../src/store/sqlite/salvage.ts'
import { settle } from '../../../../src/store/sqlite/settings.ts'
import { fail } from '../../../../src/store/values/failure.ts'
import { bytesOf, inlineStore, keep, MINUTE, must, noise, START } from '../inline-store.ts'

type Filled = Awaited<ReturnType<typeof inlineStore>>['store']

/** A closed store's file, in which `sql` was run. */
async function source(fill: (store: Filled) => Promise<unknown>, sql = '', options: object = {}) {
  const { store, folder } = await inlineStore({ compressFromBytes: null, ...options })
  await fill(store)
  await store.close()
  const target = join(folder, 'store.sqlite')
  const database = new DatabaseSync(target)
  database.exec(sql)
  database.close()
  return target
}

/** Carries all over at `now`; `refuse` are texts of bodies and keys of records without room. */
function carryOver(target: string, { now = START, refuse = [] as string[], settings = {} } = {}) {
  const bodies: RestoredBody[] = []
  const records: RestoredRecord[] = []
  const room = (name: string) => (refuse.includes(name) ? fail('full', '') : undefined)
  const restore: Restore = {
    body(body) {
      bodies.push(body)
      return room(Buffer.from(body.body).toString())
    },
    record(record) {
      records.push(record)
      return room(record.key)
    },
    begin: () => {},
  }
  const salvage = createSalvage(target, settle({ folder: '/nowhere', ...settings }))
  onTestFinished(() => salvage.close())
  const phases: boolean[] = []
  do phases.push(salvage.isAtRecords)
  while (salvage.next(restore, now))
  const { kind, moved_to, ...sum } = salvage.sum()
  expect([kind, moved_to]).toEqual(['salvaged', target])
  return { bodies, records, sum, phases, salvage, restore }
}

const record = (key: string, ttlMs?: number) => {
  const value = bytesOf(`value of ${key}`)
  return { tenant: 'a', namespace: 'n', key, value, ...(ttlMs === undefined ? {} : { ttlMs }) }
}
const textOf = ({ body }: RestoredBody) => Buffer.from(body).toString()
const LOST_NONE = { lost_bodies: 0, lost_records: 0 }

describe('what is carried over', () => {
  test('has all that was promised: records first, then bodies', async () => {
    const pinUntil = START + 90 * MINUTE
    const target = await source(async store => {
      await keep(store, 'one', { tenant: 'a', session: 's', pinUntil })
      await keep(store, 'two', { tenant: 'b', ttlMs: 5 * MINUTE })
      must(await store.writeRecord(record('x')))
      must(await store.writeRecord(record('y', MINUTE)))
    })
    const { bodies, records, sum, phases } = carryOver(target)
    const times = { createdAt: START, mediaType: 'text/plain' }
    const sha = (text: string) => new Uint8Array(hash('sha256', text, 'buffer'))
    expect(bodies).toEqual([
      {
        ...times,
        tenant: 'a',
        hash: sha('one'),
        body: new Uint8Array(bytesOf('one')),
        alone: false,
        expiresAt: pinUntil,
        pinnedUntil: pinUntil,
        used: START,
        sessions: [sha('s').subarray(0, 16)],
      },
      {
        ...times,
        tenant: 'b',
        hash: sha('two'),
        body: new Uint8Array(bytesOf('two')),
        alone: true,
        expiresAt: START + 5 * MINUTE,
        pinnedUntil: 0,
        used: START + 1,
        sessions: [],
      },
    ])
    const about = { tenant: 'a', namespace: 'n' }
    expect(records).toEqual([
      { ...about, key: 'x', value: bytesOf('value of x'), version: 1, expires_at: null },
      { ...about, key: 'y', value: bytesOf('value of y'), version: 2, expires_at: START + MINUTE },
    ])
    expect(sum).toEqual({ bodies: 2, records: 2, ...LOST_NONE })
    expect(phases).toEqual([true, true, true, false, false, false])
  })

  test('is not what has expired, or is being purged; nothing of it is lost', async () => {
    const target = await source(async store => {
      await keep(store, 'early', { tenant: 'a', ttlMs: MINUTE })
      await keep(store, 'late', { tenant: 'a', ttlMs: MINUTE + 1 })
      await keep(store, 'purged', { tenant: 'b' })
      must(await store.writeRecord(record('early', MINUTE)))
      must(await store.writeRecord(record('late', MINUTE + 1)))
      must(await store.writeRecord({ ...record('purged'), tenant: 'b' }))
    }, `UPDATE tenant SET name = NULL WHERE name = 'b'`)
    const { bodies, records, sum } = carryOver(target, { now: START + MINUTE })
    expect([bodies.map(textOf), records.map(({ key }) => key)]).toEqual([['late'], ['late']])
    expect(sum).toEqual({ bodies: 1, records: 1, ...LOST_NONE })
  })

  test('is in the log alone if the two files changed places', async () => {
    const target = await source(store => keep(store, 'one'))
    renameSync(target, `${target}-wal`)
    writeFileSync(target, noise(5000, 1))
    expect(carryOver(target).bodies.map(textOf)).toEqual(['one'])
  })
})

describe('what is lost', () => {
  const three = async (store: Filled) => {
    for (const text of ['one', 'two', 'three'])
      await keep(store, text, { tenant: 'a', session: 's' })
    for (const key of ['x', 'y']) must(await store.writeRecord(record(key)))
  }

  test.each([
    ['bytes that do not check', `UPDATE chunk SET data = x'0000000000' WHERE id / 4096 = 2`],
    ['a chunk that is missing', 'DELETE FROM chunk WHERE id / 4096 = 2'],
    ['another size', 'UPDATE body SET bytes = 2 WHERE id = 2'],
    ['no session, though it was not put alone', 'DELETE FROM link WHERE body = 2'],
    [
      'a session of another tenant',
      'UPDATE session SET tenant = 9 WHERE id IN (SELECT session FROM link WHERE body = 2); UPDATE body SET alone = 1 WHERE id <> 2',
    ],
    ['no tenant', 'UPDATE body SET tenant = 9 WHERE id = 2'],
    ['no row', 'DELETE FROM body WHERE id = 2'],
  ])('a body with %s', async (_, sql) => {
    const { bodies, sum } = carryOver(await source(three, sql))
    expect(bodies.map(textOf)).toEqual(['one', 'three'])
    expect(sum).toEqual({ bodies: 2, records: 2, lost_bodies: 1, lost_records: 0 })
  })

  test('a body whose bytes are another’s, though they check', async () => {
    const sql = `UPDATE body SET hash = x'${hash('sha256', 'two')}' WHERE id = 3;`
    const drop = 'DROP INDEX body_by_hash; '
    const { bodies, sum } = carryOver(await source(three, drop + sql))
    expect(bodies.map(textOf)).toEqual(['one', 'two'])
    expect(sum.lost_bodies).toBe(1)
  })

  test.each([
    ['a value that does not check', `UPDATE record SET value = x'0000000000' WHERE id = 1`],
    ['no tenant', 'UPDATE record SET tenant = 9 WHERE id = 1'],
    ['no row', 'DELETE FROM record WHERE id = 1'],
    ['another name', `UPDATE record SET namespace = 'other' WHERE id = 1`],
  ])('a record with %s', async (_, sql) => {
    const { records, sum } = carryOver(await source(three, sql))
    expect(records.map(({ key }) => key)).toEqual(['y'])
    expect(sum).toEqual({ bodies: 3, records: 1, lost_bodies: 0, lost_records: 1 })
  })

  test('what there is no room for', async () => {
    const { sum } = carryOver(await source(three), { refuse: ['two', 'x', 'y'] })
    expect(sum).toEqual({ bodies: 2, records: 0, lost_bodies: 1, lost_records: 2 })
  })

  test('what has a key that is not configured', async () => {
    const key = { id: 'k', key: noise(32, 1) }
    const target = await source(three, '', { keys: [key] })
    expect(carryOver(target).sum).toEqual({
      bodies: 0,
      records: 0,
      lost_bodies: 3,
      lost_records: 2,
    })
    const { sum } = carryOver(target, { settings: { keys: [key] } })
    expect(sum).toEqual({ bodies: 3, records: 2, ...LOST_NONE })
  })

  test('is counted by rows if the sums cannot be read', async () => {
    const sql = `ALTER TABLE tenant RENAME COLUMN bodies TO x; ALTER TABLE tenant RENAME COLUMN
      records TO y; UPDATE chunk SET data = x'00' WHERE id / 4096 = 2; DELETE FROM body WHERE id = 3`
    const { sum } = carryOver(await source(three, sql))
    expect(sum).toEqual({ bodies: 1, records: 2, lost_bodies: 1, lost_records: 0 })
  })

  test('is never less than what was seen to be lost', async () => {
    const { sum } = carryOver(
      await source(three, 'UPDATE tenant SET bodies = 0; DELETE FROM chunk'),
    )
    expect(sum).toMatchObject({ bodies: 0, lost_bodies: 3 })
  })

  test('is unknown if a table is gone and sums too, or there is no database', async () => {
    const sql = 'DROP TABLE record; DROP TABLE tenant'
    const gone = carryOver(await source(three, sql)).sum
    expect(gone).toEqual({ bodies: 0, records: 0, lost_bodies: 3, lost_records: null })
    for (const content of ['', 'short', 'SQLite format 3', noise(5000, 1)]) {
      const target = await source(three)
      writeFileSync(target, content)
      const { sum, phases } = carryOver(target)
      expect(sum).toEqual({ bodies: 0, records: 0, lost_bodies: null, lost_records: null })
      expect(phases).toEqual([true])
    }
  })
})

test('an error of the file that is written is not taken for a loss', async () => {
  const target = await source(store => keep(store, 'one'))
  const salvage = createSalvage(target, settle({ folder: '/nowhere' }))
  onTestFinished(() => salvage.close())
  const broken = new Error('the disk')
  const restore: Restore = {
    body() {
      throw broken
    },
    record: () => undefined,
    begin: () => {},
  }
  expect(salvage.next(restore, START)).toBe(true)
  expect(() => salvage.next(restore, START)).toThrow(broken)
  expect(salvage.sum()).toMatchObject({ bodies: 0 })
})
