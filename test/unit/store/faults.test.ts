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
import type { Store } from '../../../src/store/store.ts'
import {
  bytesOf,
  inlineStore,
  keep,
  MINUTE,
  must,
  noise,
  START,
  tempFolder,
  text,
} from './inline-store.ts'

/** Opens the real file, and lets a test decide what its statements do. */
function faulty() {
  const state = {
    fault: null as { errcode: number; at: RegExp } | null,
    opened: 0,
    onOpen: () => {},
  }
  const open = (options: OpenOptions) => {
    if (state.fault?.at.test('open')) throw sqliteError(state.fault.errcode)
    state.opened++
    if (state.opened > 1) state.onOpen()
    const database = openDatabase(options)
    const exec = database.exec.bind(database)
    database.exec = sql => {
      if (state.fault?.at.test(sql)) throw sqliteError(state.fault.errcode)
      exec(sql)
    }
    return database
  }
  return { state, open }
}

function sqliteError(errcode: number): Error {
  return Object.assign(new Error(`planted ${errcode}`), { errcode })
}

/** Puts until the store takes it. */
async function keepAgain(store: Store, body: string): Promise<void> {
  await expect
    .poll(async () => (await store.put([item(body)]))[0]?.ok, { timeout: 10_000 })
    .toBe(true)
  await expect.poll(() => store.load.state, { timeout: 5000 }).toBe('open')
}

const item = (body: string) => ({ tenant: 'a', body: bytesOf(body), mediaType: 'text/plain' })

describe('a file that refuses writes', () => {
  test.each([
    ['full', 13, 'full'],
    ['full disk, extended code', 13 | (1 << 8), 'full'],
    ['read-only', 8, 'read_only'],
    ['an input or output error', 10 | (3 << 8), 'failed'],
  ])('%s: puts are refused, gets go on, and it recovers', async (_, errcode, reason) => {
    const { state, open } = faulty()
    const { store, events } = await inlineStore({ open })
    const before = await keep(store, 'before')
    state.fault = { errcode, at: /^COMMIT/ }
    const results = await store.put([item('one'), item('two'), item('three')])
    expect(results).toMatchObject([{ reason }, { reason }, { reason }])
    expect(text(must(await store.get({ tenant: 'a', ref: before.hash })).body)).toBe('before')
    expect(await store.touch([{ tenant: 'a', ref: before.hash }])).toMatchObject([{ reason }])
    state.fault = null
    const after = await keep(store, 'one')
    expect(after.created).toBe(true)
    expect(events).toMatchObject([{ kind: 'write_failed', reason }, { kind: 'write_recovered' }])
    expect(must(await store.stats())).toMatchObject({ bodies: 2 })
  })

  test('held by another process: busy, without an alarm', async () => {
    const { store, folder, events } = await inlineStore({ busyTimeoutMs: 10 })
    const other = new DatabaseSync(join(folder, 'store.sqlite'))
    other.exec('BEGIN IMMEDIATE')
    expect(await store.put([item('x')])).toMatchObject([{ reason: 'busy' }])
    other.exec('ROLLBACK')
    other.close()
    await keep(store, 'x')
    expect(events).toEqual([])
  })
})

describe('a damaged body', () => {
  const change = (folder: string, sql: string) => {
    const database = new DatabaseSync(join(folder, 'store.sqlite'))
    database.exec(sql)
    database.close()
  }

  test.each([
    [
      'a changed byte',
      `UPDATE chunk SET data = CAST(substr(data, 1, 9) || x'58' || substr(data, 11) AS BLOB)`,
    ],
    ['a missing chunk', 'DELETE FROM chunk WHERE id % 4096 = 1'],
    [
      'chunks in each other’s place',
      'UPDATE chunk SET data = (SELECT data FROM chunk c WHERE c.id / 4096 = chunk.id / 4096 AND c.id <> chunk.id)',
    ],
    ['a chunk of no bytes', `UPDATE chunk SET data = x''`],
    ['a wrong length', 'UPDATE body SET bytes = bytes - 1'],
  ])('%s is never returned, but reported and removed', async (_, sql) => {
    const { store, folder, events } = await inlineStore({ compressFromBytes: null })
    const { hash } = await keep(store, noise(131_072, 1))
    change(folder, sql)
    expect(await store.get({ tenant: 'a', ref: hash })).toMatchObject({ reason: 'gone' })
    expect(events).toEqual([{ kind: 'damaged_body', tenant: 'a', hash }])
    await expect.poll(async () => must(await store.stats()).bodies).toBe(0)
    expect((await keep(store, noise(131_072, 1))).created).toBe(true)
    must(await store.get({ tenant: 'a', ref: hash }))
  })

  test.each([
    [
      'a changed byte',
      `UPDATE chunk SET data = CAST(substr(data, 1, 9) || x'58' || substr(data, 11) AS BLOB)`,
    ],
    ['a missing chunk', 'DELETE FROM chunk WHERE id % 4096 = 1'],
    ['a wrong length', 'UPDATE body SET bytes = bytes - 1'],
  ])('%s: a put writes it again, and every promise about it stays', async (_, sql) => {
    const { store, folder, events, clock } = await inlineStore({ compressFromBytes: null })
    const body = noise(131_072, 1)
    const pinUntil = START + 90 * MINUTE
    const { hash } = await keep(store, body, { tenant: 'a', session: 's', pinUntil })
    const before = must(await store.stats('a'))
    await keep(store, noise(131_072, 2))
    change(folder, sql)
    expect(await keep(store, body, { tenant: 'a', session: 't' })).toMatchObject({
      created: true,
      bytes: 131_072,
      expires_at: pinUntil,
    })
    expect(events).toEqual([{ kind: 'damaged_body', tenant: 'a', hash }])
    clock.now += 80 * MINUTE
    // What was reported and is still damaged goes; what was repaired does not.
    expect(must(await store.verify(10))).toMatchObject({ checked: 2, damaged: 1 })
    for (const session of ['s', 't']) {
      const got = must(await store.get({ tenant: 'a', session, ref: hash.slice(0, 8) }))
      expect(Buffer.compare(got.body, body)).toBe(0)
    }
    expect(must(await store.stats('a'))).toEqual(before)
    expect((await keep(store, body)).created).toBe(false)
  })

  test('verifying finds it in steps', async () => {
    const { store, folder, events } = await inlineStore()
    for (let i = 0; i < 10; i++) await keep(store, noise(1000, i))
    change(folder, `UPDATE chunk SET data = x'00' WHERE id / 4096 IN (3, 7)`)
    const first = must(await store.verify(4))
    expect(first).toMatchObject({ checked: 4, damaged: 1 })
    const second = must(await store.verify(100, first.cursor ?? 0))
    expect(second).toMatchObject({ checked: 6, damaged: 1, cursor: null })
    expect(events.map(({ kind }) => kind)).toEqual(['damaged_body', 'damaged_body'])
    expect(must(await store.stats())).toMatchObject({ bodies: 8, counters: { damaged: 2 } })
    expect(must(await store.verify(100))).toMatchObject({ checked: 8, damaged: 0 })
    expect(await store.verify(0)).toMatchObject({ reason: 'invalid_request' })
  })
})

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

describe('the folder', () => {
  test('one that it makes, and its files everywhere, are the owner’s alone', async () => {
    const folder = join(tempFolder(), 'new')
    const { store, events } = await inlineStore({ folder })
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(events).toEqual([])
    await store.close()
    const path = join(folder, 'store.sqlite')
    chmodSync(path, 0o644)
    await inlineStore({ folder })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600)
  })

  test('one that is there stays as it is, and is reported once where others may look in', async () => {
    const folder = tempFolder()
    chmodSync(folder, 0o755)
    writeFileSync(join(folder, 'store.sqlite'), '', { mode: 0o644 })
    const { store, events } = await inlineStore({ folder })
    await keep(store, 'x')
    const mode = (name: string) => statSync(join(folder, name)).mode & 0o777
    expect(mode('.')).toBe(0o755)
    expect(events).toEqual([{ kind: 'open_folder', folder, mode: '755' }])
    const names = readdirSync(folder).sort()
    expect(names).toEqual(['store.sqlite', 'store.sqlite-shm', 'store.sqlite-wal'])
    for (const name of names) expect(mode(name)).toBe(0o600)
    await store.close()
    expect(readdirSync(folder)).toEqual(['store.sqlite'])
  })

  test('what was kept is there after a start, expired or not', async () => {
    const { store, folder, clock } = await inlineStore()
    const { hash } = await keep(store, 'x', { tenant: 'a', session: 's' })
    await keep(store, 'y', { tenant: 'b', ttlMs: MINUTE })
    await store.close()
    expect(await store.put([item('z')])).toMatchObject([{ reason: 'closed' }])
    clock.now += 10 * MINUTE
    const again = await inlineStore({ folder, clock })
    must(await again.store.get({ tenant: 'a', ref: hash.slice(0, 8), session: 's' }))
    await expect.poll(async () => must(await again.store.stats()).bodies).toBe(1)
  })

  test('a purge that was cut off goes on at the next start', async () => {
    const { store, folder } = await inlineStore()
    await keep(store, 'x', { tenant: 'a', session: 's' })
    await keep(store, 'y', { tenant: 'b' })
    await store.close()
    const database = new DatabaseSync(join(folder, 'store.sqlite'))
    database.exec(`UPDATE session SET name = NULL; UPDATE tenant SET name = NULL WHERE name = 'b'`)
    database.close()
    const again = await inlineStore({ folder })
    await expect
      .poll(async () => must(await again.store.stats()))
      .toMatchObject({ bodies: 0, file: { tenants: 1 } })
  })
})

describe('the queue', () => {
  test('it refuses what it cannot hold, in calls and in bytes', async () => {
    const { store } = await inlineStore({ maxCalls: 3, maxBytesWaiting: 1000 })
    const results = await store.put([1, 2, 3, 4].map(i => item(`body ${i}`)))
    expect(results.map(({ ok }) => ok)).toEqual([true, true, true, false])
    expect(results[3]).toMatchObject({ reason: 'busy' })
    const large = { ...item(''), body: noise(600, 1) }
    const [first, second] = await store.put([large, { ...large, body: noise(600, 2) }])
    expect([first?.ok, second?.ok]).toEqual([true, false])
    expect(store.load).toMatchObject({ pending: 0, pending_bytes: 0, refused: 2 })
  })

  test('calls of a lost thread are answered, and the next thread takes over', async () => {
    const { store, events, endThread } = await inlineStore()
    const { hash } = await keep(store, 'x')
    const waiting = store.get({ tenant: 'a', ref: hash })
    endThread()
    expect(await waiting).toMatchObject({ reason: 'lost' })
    expect(events).toMatchObject([{ kind: 'thread_lost' }])
    expect(await store.get({ tenant: 'a', ref: hash })).toMatchObject({ reason: 'busy' })
    await expect.poll(async () => (await store.get({ tenant: 'a', ref: hash })).ok).toBe(true)
    expect(store.load.threads_lost).toBe(1)
  })

  test('closing answers what was accepted', async () => {
    const { store } = await inlineStore()
    const puts = store.put(Array.from({ length: 50 }, (_, i) => item(`body ${i}`)))
    await store.close()
    expect((await puts).every(({ ok }) => ok)).toBe(true)
  })

  test('a bug in one call is told, and fails that call alone', async () => {
    const { store, events } = await inlineStore()
    const broken = { ...item('x'), mediaType: Symbol('no text') as unknown as string }
    const [first, second, third] = await store.put([item('a'), broken, item('c')])
    expect([first?.ok, third?.ok]).toEqual([true, true])
    expect(second).toMatchObject({ reason: 'failed', detail: 'unexpected error in the store' })
    expect(events.map(({ kind }) => kind)).toContain('bug')
    expect(must(await store.stats()).bodies).toBe(2)
  })
})
