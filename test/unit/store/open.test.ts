import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { openDatabase } from '../../../src/store/sqlite/open.ts'
import { settle } from '../../../src/store/sqlite/settings.ts'
import type { StoreEvent } from '../../../src/store/store.ts'
import { inlineStore, keep, must, noise, START, tempFolder } from './inline-store.ts'

function open(folder: string, thorough = false) {
  const events: StoreEvent[] = []
  const settings = settle({ folder, busyTimeoutMs: 5 })
  const onEvent = (event: StoreEvent) => events.push(event)
  return { database: openDatabase({ settings, clock: () => START, onEvent, thorough }), events }
}

test('a file that another process is writing to is opened, and never moved', async () => {
  const { store, folder } = await inlineStore()
  for (let i = 0; i < 30; i++) {
    await keep(store, noise(50_000, i))
    const { database, events } = open(folder, i % 2 === 0)
    expect(events).toEqual([])
    database.close()
  }
  expect(must(await store.verify(100))).toMatchObject({ checked: 30, damaged: 0 })
})

test('a write that is under way keeps nobody from opening', async () => {
  const { folder } = await inlineStore()
  const other = new DatabaseSync(join(folder, 'store.sqlite'))
  other.exec('BEGIN IMMEDIATE')
  open(folder).database.close()
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
  open(folder).database.close()
})
