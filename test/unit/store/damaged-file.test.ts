import {
  chmodSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { type OpenOptions, openDatabase } from '../../../src/store/sqlite/open.ts'
import { SCHEMA_VERSION } from '../../../src/store/sqlite/schema.ts'
import { faulty, item, keepAgain } from './faulty-database.ts'
import { inlineStore, keep, MINUTE, must, noise, tempFolder, text } from './inline-store.ts'

describe('a damaged file', () => {
  const damage: readonly [string, (path: string) => void][] = [
    ['not a database', path => writeFileSync(path, 'this is no database at all '.repeat(1000))],
    ['cut short', path => truncateSync(path, statSync(path).size - 4096 * 3)],
    ['cut to its head', path => truncateSync(path, 100)],
    [
      'its first page wiped',
      path => {
        const bytes = readFileSync(path)
        bytes.fill(0x5a, 0, 4096)
        writeFileSync(path, bytes)
      },
    ],
  ]

  test.each(damage)('%s: moved aside at the start, and a new one begun', async (_, spoil) => {
    const first = await inlineStore()
    for (let i = 0; i < 20; i++) await keep(first.store, noise(5000, i))
    await first.store.close()
    spoil(join(first.folder, 'store.sqlite'))
    const { store, events } = await inlineStore({ folder: first.folder })
    const moved = expect.stringContaining('store.sqlite.damaged-2030-01-01T00-00-00')
    await keep(store, 'new')
    await expect.poll(() => events.length, { timeout: 5000 }).toBe(2)
    expect(events).toMatchObject([
      { kind: 'damaged_file', moved_to: moved },
      { kind: 'salvaged', moved_to: moved, records: 0 },
    ])
    expect(readdirSync(first.folder).filter(name => /damaged.*Z$/.test(name))).toHaveLength(1)
    const [, salvaged] = events
    const carried = salvaged?.kind === 'salvaged' ? salvaged.bodies : 0
    expect(must(await store.stats()).bodies).toBe(1 + carried)
  })

  test('damage met while running is reported, and the file checked and opened again', async () => {
    const { state, open } = faulty()
    const { store, events } = await inlineStore({ open })
    const { hash } = await keep(store, 'x')
    state.fault = { errcode: 11, at: /^BEGIN$/ }
    const [found, kept] = await Promise.all([
      store.get({ tenant: 'a', ref: hash }),
      store.put([item('y')]),
    ])
    expect([found, kept[0]]).toMatchObject([{ reason: 'unavailable' }, { reason: 'unavailable' }])
    expect(events).toMatchObject([
      { kind: 'damaged_file', moved_to: null },
      { kind: 'damaged_file', moved_to: expect.stringContaining('damaged-') },
    ])
    state.fault = null
    await keepAgain(store, 'z')
    // What the file had was carried over into the new one.
    must(await store.get({ tenant: 'a', ref: hash }))
    expect(events.at(-1)).toMatchObject({ kind: 'salvaged', bodies: 1, lost_bodies: 0 })
  })

  test.each([
    ['damage', 11],
    ['a file that is no database', 26],
    ['a page that cannot be read', 10 | (1 << 8)],
    ['memory of the log that is gone', 10 | (21 << 8)],
  ])('%s that a fresh connection does not meet costs no call', async (_, errcode) => {
    const { state, open } = faulty()
    const { store, events } = await inlineStore({ open })
    const { hash } = await keep(store, 'x')
    for (const at of [/^BEGIN$/, /^BEGIN IMMEDIATE/, /^COMMIT/]) {
      state.fault = { errcode, at }
      state.onOpen = () => {
        state.fault = null
      }
      must(await store.get({ tenant: 'a', ref: hash }))
      must((await store.put([item(String(at))]))[0])
    }
    expect(events.filter(event => 'moved_to' in event && event.moved_to !== null)).toEqual([])
    expect(must(await store.stats()).bodies).toBe(4)
    expect(state.opened).toBeGreaterThan(1)
  })

  test('pages that make no sense are found by the check and moved aside', async () => {
    const { store, folder, events } = await inlineStore({ cacheBytes: 0 })
    for (let i = 0; i < 200; i++) await keep(store, noise(5000, i))
    const path = join(folder, 'store.sqlite')
    await expect.poll(() => statSync(path).size).toBeGreaterThan(1_000_000)
    const bytes = readFileSync(path)
    writeFileSync(path, bytes.fill(0x5a, 4096 * 2))
    await expect.poll(async () => (await store.put([item('y')]))[0]?.ok).toBe(true)
    expect(events).toContainEqual(
      expect.objectContaining({
        kind: 'damaged_file',
        moved_to: expect.stringContaining('damaged'),
      }),
    )
  })

  test('a file that was moved away is replaced', async () => {
    const { state, open } = faulty()
    const { store, folder, events } = await inlineStore({ open })
    await keep(store, 'x')
    const { renameSync } = await import('node:fs')
    for (const name of readdirSync(folder))
      renameSync(join(folder, name), join(folder, `old-${name}`))
    await expect.poll(() => state.opened).toBe(2)
    await keep(store, 'y')
    expect(must(await store.stats()).bodies).toBe(1)
    expect(events).toEqual([{ kind: 'file_replaced' }])
  })

  /** Does something to the files when the statement runs next. */
  function whenever(at: RegExp, times: number, act: (folder: string) => void) {
    let left = times
    return (options: OpenOptions) => {
      const database = openDatabase(options)
      const exec = database.exec.bind(database)
      database.exec = sql => {
        if (at.test(sql) && left-- > 0) act(options.settings.folder)
        exec(sql)
      }
      return database
    }
  }
  const removeAll = (folder: string) => {
    for (const name of readdirSync(folder)) rmSync(join(folder, name))
  }

  test.each([
    ['before it begins', /^BEGIN IMMEDIATE/],
    ['before it ends', /^COMMIT/],
  ])('removed in a transaction, %s: what is acknowledged is in the new file', async (_, at) => {
    const open = whenever(at, 1, removeAll)
    const { store, folder, events } = await inlineStore({ open })
    const kept = must((await store.put([item('x')]))[0])
    expect(events).toEqual([{ kind: 'file_replaced' }])
    await store.close()
    const again = await inlineStore({ folder })
    expect(text(must(await again.store.get({ tenant: 'a', ref: kept.hash })).body)).toBe('x')
  })

  test('removed between two puts: the second is in the new file', async () => {
    const { store, folder } = await inlineStore()
    await keep(store, 'x')
    removeAll(folder)
    const { hash } = await keep(store, 'y')
    await store.close()
    const again = await inlineStore({ folder })
    must(await again.store.get({ tenant: 'a', ref: hash }))
  })

  test('removed again and again: puts fail, and none is acknowledged', async () => {
    const open = whenever(/^COMMIT/, 2, removeAll)
    const { store } = await inlineStore({ open })
    expect(await store.put([item('x')])).toMatchObject([{ reason: 'unavailable' }])
    expect((await keep(store, 'x')).created).toBe(true)
  })

  test('a file that cannot be opened again fails calls until it can', async () => {
    const { state, open } = faulty()
    const { store, events } = await inlineStore({ open })
    const { hash } = await keep(store, 'x')
    state.fault = { errcode: 11, at: /^BEGIN$|open/ }
    expect(await store.get({ tenant: 'a', ref: hash })).toMatchObject({ reason: 'unavailable' })
    expect(await store.get({ tenant: 'a', ref: hash })).toMatchObject({ reason: 'unavailable' })
    expect(await store.put([item('y')])).toMatchObject([{ reason: 'unavailable' }])
    await expect.poll(() => store.load.state).toBe('unavailable')
    state.fault = null
    await expect.poll(async () => (await store.get({ tenant: 'a', ref: hash })).ok).toBe(true)
    await keep(store, 'y')
    const kinds = new Set(events.map(({ kind }) => kind))
    expect([...kinds].sort()).toEqual([
      'damaged_file',
      'salvaged',
      'write_failed',
      'write_recovered',
    ])
  })

  test.each([
    ['with tables', 'CREATE TABLE other (x)'],
    ['with a version', 'PRAGMA user_version = 1'],
    ['with an id', 'PRAGMA application_id = 7'],
    ['with a log', 'PRAGMA journal_mode = WAL; CREATE TABLE other (x)'],
  ])('another program’s, %s: refused, neither moved nor changed', async (_, sql) => {
    const folder = tempFolder()
    const path = join(folder, 'store.sqlite')
    const database = new DatabaseSync(path)
    database.exec(sql)
    database.close()
    chmodSync(path, 0o644)
    const before = readFileSync(path)
    await expect(inlineStore({ folder })).rejects.toThrow(/another program's database/)
    expect(readdirSync(folder)).toEqual(['store.sqlite'])
    expect(Buffer.compare(readFileSync(path), before)).toBe(0)
    expect(statSync(path).mode & 0o777).toBe(0o644)
  })

  test('of several that were moved aside the newest stays, for a week', async () => {
    const folder = tempFolder()
    const path = join(folder, 'store.sqlite')
    const names = () =>
      readdirSync(folder)
        .filter(name => name.includes('damaged'))
        .sort()
    for (const name of ['2029-12-29T00-00-00-000Z', '2029-12-30T00-00-00-000Z', 'by-hand']) {
      writeFileSync(`${path}.damaged-${name}`, '')
    }
    writeFileSync(`${path}.damaged-2029-12-29T00-00-00-000Z-wal`, '')
    writeFileSync(`${path}.damaged-2029-12-30T00-00-00-000Z-wal`, '')
    const first = await inlineStore({ folder })
    const newest = 'store.sqlite.damaged-2029-12-30T00-00-00-000Z'
    const byHand = 'store.sqlite.damaged-by-hand'
    expect(names()).toEqual([newest, `${newest}-wal`, byHand])
    await first.store.close()
    writeFileSync(path, 'no database '.repeat(1000))
    const { clock, events } = await inlineStore({ folder })
    expect(events[0]).toMatchObject({ kind: 'damaged_file' })
    expect(names()).toEqual(['store.sqlite.damaged-2030-01-01T00-00-00-000Z', byHand])
    clock.now += 7 * 24 * 60 * MINUTE
    await expect.poll(names).toEqual([byHand])
  })

  test('one of a newer version is refused and left alone', async () => {
    const { store, folder } = await inlineStore()
    await store.close()
    const path = join(folder, 'store.sqlite')
    const database = new DatabaseSync(path)
    database.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`)
    database.close()
    await expect(inlineStore({ folder })).rejects.toThrow(/use a newer haversack/)
    expect(readdirSync(folder)).toEqual(['store.sqlite'])
  })
})
