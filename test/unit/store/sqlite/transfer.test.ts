import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { moveAside } from '../../../../src/store/sqlite/damaged-files.ts'
import type { OperationName } from '../../../../src/store/sqlite/protocol.ts'
import type { Restore } from '../../../../src/store/sqlite/restore.ts'
import { settle } from '../../../../src/store/sqlite/settings.ts'
import { createTransfer } from '../../../../src/store/sqlite/transfer.ts'
import { fail } from '../../../../src/store/values/failure.ts'
import type { StoreEvent } from '../../../../src/store/values/store-event.ts'
import { bytesOf, inlineStore, keep, must, START, tempFolder } from '../inline-store.ts'

const ALL = [
  ...['get', 'part', 'readRecord', 'stats', 'verify', 'put', 'touch'],
  ...['writeRecord', 'deleteRecord', 'disownSession', 'disownTenant', 'purgeSession'],
  ...['purgeTenant', 'expire', 'removeDamaged', 'upkeep'],
] as OperationName[]
const NOT_FOUND = fail('not_found', 'x')
const SALVAGING = fail('busy', 'what a damaged file had is being carried over')

/** A folder with damaged files, each with bodies of these texts and one record. */
async function damaged(...files: string[][]) {
  const folder = tempFolder()
  const path = join(folder, 'store.sqlite')
  const targets: string[] = []
  for (const [index, texts] of files.entries()) {
    const { store, folder: own } = await inlineStore()
    for (const text of texts) await keep(store, text)
    must(await store.writeRecord({ tenant: 'a', namespace: 'n', key: 'k', value: bytesOf('v') }))
    await store.close()
    renameSync(join(own, 'store.sqlite'), path)
    targets.push(moveAside(path, START + index))
  }
  return { folder, path, targets }
}

function transferOf(folder: string, { mustExist = false, isClosed = false } = {}) {
  const events: StoreEvent[] = []
  const written: string[] = []
  const restore: Restore = {
    body: ({ body }) => void written.push(Buffer.from(body).toString()),
    record: ({ key }) => void written.push(`record ${key}`),
    begin: now => void written.push(`begin ${now - START}`),
  }
  const transfer = createTransfer({
    settings: settle({ folder, mustExist }),
    path: join(folder, 'store.sqlite'),
    clock: () => START,
    onEvent: event => events.push(event),
  })
  if (!isClosed) onTestFinished(() => transfer.close())
  return { transfer, events, written, restore }
}

describe('carrying a damaged file over', () => {
  test('is off if there is none, and refuses nothing then', () => {
    const { transfer, events, restore } = transferOf(tempFolder())
    transfer.begin()
    expect(transfer.isOn).toBe(false)
    expect(ALL.filter(op => transfer.refusal(op) !== undefined)).toEqual([])
    expect(transfer.corrected('get', NOT_FOUND)).toBe(NOT_FOUND)
    expect(transfer.step(restore, () => true)).toBe(true)
    transfer.end()
    transfer.restart()
    expect(events).toEqual([])
  })

  test('goes on row by row until it is time, and is reported at its end', async () => {
    const { folder, targets } = await damaged(['one', 'two'])
    const { transfer, events, written, restore } = transferOf(folder)
    transfer.begin()
    expect(transfer.isOn).toBe(true)
    expect(transfer.step(restore, () => true)).toBe(false)
    expect(written).toEqual(['begin 0', 'record k'])
    expect(transfer.step(restore, () => false)).toBe(true)
    expect(written).toEqual(['begin 0', 'record k', 'one', 'two'])
    expect([transfer.isOn, events.length]).toEqual([true, 0])
    transfer.end()
    expect(transfer.isOn).toBe(false)
    expect(events).toEqual([
      {
        kind: 'salvaged',
        moved_to: targets[0],
        bodies: 2,
        lost_bodies: 0,
        records: 1,
        lost_records: 0,
      },
    ])
    expect(existsSync(`${targets[0]}-unsalvaged`)).toBe(false)
    transfer.begin()
    expect(transfer.isOn).toBe(false)
  })

  test('takes the newest file first, then the next', async () => {
    const { folder, targets } = await damaged(['old'], ['new'])
    const { transfer, events, written, restore } = transferOf(folder)
    transfer.begin()
    // Another begin does not disturb it.
    transfer.begin()
    expect(transfer.step(restore, () => false)).toBe(true)
    transfer.end()
    expect(transfer.isOn).toBe(true)
    expect(transfer.step(restore, () => false)).toBe(true)
    transfer.end()
    expect(written.filter(name => !name.includes(' '))).toEqual(['new', 'old'])
    expect(written.filter(name => name === 'begin 0')).toHaveLength(2)
    expect(events).toMatchObject(targets.toReversed().map(moved_to => ({ moved_to })))
  })

  test('begins again if a step was taken back', async () => {
    const { folder } = await damaged(['one'])
    const { transfer, events, written, restore } = transferOf(folder)
    transfer.begin()
    transfer.step(restore, () => false)
    transfer.restart()
    expect(transfer.isOn).toBe(true)
    expect(transfer.step(restore, () => false)).toBe(true)
    expect(written).toEqual(['begin 0', 'record k', 'one', 'begin 0', 'record k', 'one'])
    transfer.end()
    // Nothing is counted twice.
    expect(events).toMatchObject([{ bodies: 1, records: 1 }])
  })

  test('is not for one who only looks', async () => {
    const { folder } = await damaged(['one'])
    const { transfer } = transferOf(folder, { mustExist: true })
    transfer.begin()
    expect(transfer.isOn).toBe(false)
    transfer.restart()
    expect(transfer.isOn).toBe(false)
    expect(transfer.refusal('disownTenant')).toEqual(SALVAGING)
  })

  test('of a file that cannot be opened ends at once, with losses unknown', () => {
    const folder = tempFolder()
    const path = join(folder, 'store.sqlite')
    writeFileSync(path, 'no database '.repeat(1000))
    moveAside(path, START)
    const { transfer, events, restore } = transferOf(folder)
    transfer.begin()
    expect(transfer.step(restore, () => false)).toBe(true)
    transfer.end()
    expect(events).toMatchObject([{ bodies: 0, lost_bodies: null, records: 0, lost_records: null }])
  })
})

describe('calls meanwhile', () => {
  const PURGES = ['deleteRecord', 'disownSession', 'disownTenant']

  test('wait if they must see all: purges, and those of records while these come', async () => {
    const { folder } = await damaged(['one'])
    const { transfer, restore } = transferOf(folder)
    transfer.begin()
    const refused = () => ALL.filter(op => transfer.refusal(op) !== undefined).sort()
    const ofRecords = ['readRecord', 'writeRecord']
    expect(refused()).toEqual([...PURGES, ...ofRecords].sort())
    expect(transfer.refusal('readRecord')).toEqual(SALVAGING)
    transfer.step(restore, () => true)
    transfer.step(restore, () => true)
    expect(refused()).toEqual(PURGES)
    transfer.step(restore, () => false)
    transfer.end()
    expect(refused()).toEqual([])
  })

  test('do not find what may still come: they are told to wait', async () => {
    const { folder } = await damaged(['one'])
    const { transfer } = transferOf(folder)
    transfer.begin()
    const changed = ALL.filter(op => transfer.corrected(op, NOT_FOUND) !== NOT_FOUND)
    expect(changed).toEqual(['get', 'part', 'touch'])
    expect(transfer.corrected('get', NOT_FOUND)).toEqual(SALVAGING)
    const gone = fail('gone', 'x')
    expect(transfer.corrected('get', gone)).toBe(gone)
    const found = { ok: true } as never
    expect(transfer.corrected('get', found)).toBe(found)
  })
})

test('the damaged file is closed at the end', async () => {
  const { folder, targets } = await damaged(['one'])
  const { transfer, restore } = transferOf(folder, { isClosed: true })
  transfer.begin()
  transfer.step(restore, () => true)
  const database = new DatabaseSync(targets[0]!)
  onTestFinished(() => database.close())
  // Only the last connection can do so.
  const leaveLog = () => database.prepare('PRAGMA journal_mode = DELETE').get()
  expect(leaveLog).toThrow(/locked/)
  transfer.close()
  expect(leaveLog()).toEqual({ journal_mode: 'delete' })
})
