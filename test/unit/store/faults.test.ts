import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { faulty, item } from './faulty-database.ts'
import { inlineStore, keep, MINUTE, must, noise, START, tempFolder, text } from './inline-store.ts'

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
    const second = must(await store.verify(100, first.cursor!))
    expect(second).toMatchObject({ checked: 6, damaged: 1, cursor: null })
    expect(events.map(({ kind }) => kind)).toEqual(['damaged_body', 'damaged_body'])
    expect(must(await store.stats())).toMatchObject({ bodies: 8, counters: { damaged: 2 } })
    expect(must(await store.verify(100))).toMatchObject({ checked: 8, damaged: 0 })
    expect(await store.verify(0)).toMatchObject({ reason: 'invalid_request' })
  })

  test.each(['', '-1', '1.5', '1e3', 'next', '9'.repeat(16)])(
    'a cursor of another store is refused: "%s"',
    async cursor => {
      const { store } = await inlineStore()
      await keep(store, noise(1000, 1))
      const refused = await store.verify(1, cursor)
      expect(refused).toMatchObject({ ok: false, reason: 'invalid_request' })
      expect(must(await store.verify(1, '0'))).toMatchObject({ checked: 1 })
    },
  )
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
