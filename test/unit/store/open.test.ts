import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { Commits } from '../../../src/store/sqlite/commits.ts'
import { openDatabase } from '../../../src/store/sqlite/open.ts'
import type { OperationName } from '../../../src/store/sqlite/protocol.ts'
import { settle } from '../../../src/store/sqlite/settings.ts'
import type { Result } from '../../../src/store/store.ts'
import type { StoreEvent } from '../../../src/store/values/store-event.ts'
import { inlineStore, keep, must, noise, START, tempFolder } from './inline-store.ts'

function open(folder: string, mustExist = false) {
  const events: StoreEvent[] = []
  const commits = new Commits({
    settings: settle({ folder, busyTimeoutMs: 5, mustExist }),
    clock: () => START,
    stopwatch: () => performance.now(),
    onEvent: event => events.push(event),
  })
  return { commits, events }
}

test('a file that another process is writing to is opened, and never moved', async () => {
  const { store, folder } = await inlineStore()
  for (let i = 0; i < 30; i++) {
    await keep(store, noise(50_000, i))
    const { commits, events } = open(folder)
    while (commits.upkeep(true));
    commits.close()
    expect(events).toEqual([])
    openDatabase({ settings: settle({ folder }), thorough: true }).close()
  }
  expect(must(await store.verify(100))).toMatchObject({ checked: 30, damaged: 0 })
})

test.each([1, 15, 31])('a log cut to %i bytes keeps nobody from opening', async size => {
  const { store, folder } = await inlineStore()
  await keep(store, 'x')
  const other = tempFolder()
  for (const suffix of ['', '-wal']) {
    copyFileSync(join(folder, `store.sqlite${suffix}`), join(other, `store.sqlite${suffix}`))
  }
  truncateSync(join(other, 'store.sqlite-wal'), size)
  const again = await inlineStore({ folder: other })
  expect(again.events[0]).toMatchObject({ kind: 'damaged_log', lost_pages: null })
  await keep(again.store, 'y')
})

test('a write that is under way keeps nobody from opening', async () => {
  const { folder } = await inlineStore()
  const other = new DatabaseSync(join(folder, 'store.sqlite'))
  other.exec('BEGIN IMMEDIATE')
  open(folder).commits.close()
  other.exec('ROLLBACK')
  other.close()
})

test('a new file that stays locked is given up in the end, and left where it is', () => {
  const folder = tempFolder()
  const path = join(folder, 'store.sqlite')
  const other = new DatabaseSync(path)
  other.exec('BEGIN EXCLUSIVE')
  expect(() => open(folder)).toThrow(/locked/)
  expect(existsSync(path)).toBe(true)
  other.exec('ROLLBACK')
  other.close()
  open(folder).commits.close()
})

test('where it must exist, nothing is made, moved or begun anew', async () => {
  const parent = tempFolder()
  const folder = join(parent, 'none')
  expect(() => open(folder, true)).toThrow(`no store in ${folder}`)
  expect(existsSync(folder)).toBe(false)
  const path = join(parent, 'store.sqlite')
  for (const content of ['', 'this is no database at all '.repeat(100)]) {
    writeFileSync(path, content)
    expect(() => open(parent, true)).toThrow(content === '' ? /no store in/ : /is damaged/)
    expect(readFileSync(path, 'utf8')).toBe(content)
    expect(readdirSync(parent)).toEqual(['store.sqlite'])
  }
  rmSync(path)
  const { store } = await inlineStore({ folder: parent })
  const { hash } = await keep(store, 'x')
  chmodSync(parent, 0o750)
  const second = await inlineStore({ folder: parent, mustExist: true })
  must(await second.store.get({ tenant: 'a', ref: hash }))
  expect(second.events).toEqual([])
  expect(statSync(parent).mode & 0o777).toBe(0o750)
})

test('a purge’s step does nothing to whoever has the number by now', () => {
  const commits = new Commits({
    settings: settle({ folder: tempFolder() }),
    clock: () => START,
    stopwatch: () => performance.now(),
    onEvent: () => {},
  })
  onTestFinished(() => commits.close())
  const write = (op: OperationName, ...args: unknown[]) =>
    must(commits.write([{ op, args, bytes: 0 }])[0] as Result<{ id: number; bodies: number }>)
  const put = (tenant: string, session: string) =>
    write('put', { tenant, session, body: noise(10, 1), mediaType: 'x' })
  put('a', 's')
  const session = write('disownSession', 'a', 's').id
  while (commits.upkeep(false));
  put('a', 't')
  expect(write('purgeSession', session).bodies).toBe(0)
  const tenant = write('disownTenant', 'a').id
  while (commits.upkeep(false));
  put('b', 's')
  expect(write('purgeTenant', tenant).bodies).toBe(0)
  expect(commits.read({ op: 'stats', args: ['b'], bytes: 0 })).toMatchObject({ bodies: 1 })
})
