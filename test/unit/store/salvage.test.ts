import { closeSync, openSync, readdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { createRowWalk } from '../../../src/store/sqlite/salvage.ts'
import { bytesOf, inlineStore, keep, MINUTE, must, noise, START, text } from './inline-store.ts'

/** A file that cannot be used as it is, though all its rows are there: its mark is another's. */
async function spoilt(
  fill: (store: Awaited<ReturnType<typeof inlineStore>>['store']) => Promise<void>,
) {
  const { store, folder } = await inlineStore()
  await fill(store)
  await store.close()
  const path = join(folder, 'store.sqlite')
  const database = new DatabaseSync(path)
  database.exec('PRAGMA application_id = 1')
  database.close()
  return folder
}

async function salvaged(folder: string) {
  const opened = await inlineStore({ folder })
  await expect.poll(() => opened.store.load.state, { timeout: 5000 }).toBe('open')
  await expect
    .poll(() => opened.events.some(({ kind }) => kind === 'salvaged'), { timeout: 5000 })
    .toBe(true)
  return opened
}

const key = { tenant: 'a', namespace: 'n', key: 'k' }

test('bodies, sessions, pins and records are carried over with what was promised', async () => {
  const pinUntil = START + 90 * MINUTE
  let version = 0
  const folder = await spoilt(async store => {
    await keep(store, 'of a session', { tenant: 'a', session: 's', pinUntil })
    await keep(store, 'alone', { tenant: 'b' })
    version = must(await store.writeRecord({ ...key, value: bytesOf('value') })).version
  })
  const { store, events } = await salvaged(folder)
  expect(events).toMatchObject([
    { kind: 'damaged_file' },
    { kind: 'salvaged', bodies: 2, lost_bodies: 0, records: 1, lost_records: 0 },
  ])
  const record = must(await store.readRecord(key))
  expect([text(record.value), record.version]).toEqual(['value', version])
  // Versions go on above all that the other file gave.
  const next = must(await store.writeRecord({ ...key, value: bytesOf('x'), ifVersion: version }))
  expect(next.version).toBeGreaterThan(version + 1)
  const { hash } = await keep(store, 'of a session', { tenant: 'c' })
  const ofSession = { tenant: 'a', session: 's', ref: hash.slice(0, 8) }
  expect(must(await store.get(ofSession)).expires_at).toBe(pinUntil)
  expect(await store.get({ tenant: 'b', ref: hash })).toMatchObject({ reason: 'not_found' })
  // Only the session kept it.
  expect(must(await store.purgeSession('a', 's')).bodies).toBe(1)
  expect(readdirSync(folder).filter(name => name.includes('unsalvaged'))).toEqual([])
})

test('a body whose bytes do not check is counted as lost, and not carried over', async () => {
  const folder = await spoilt(async store => {
    for (let i = 0; i < 10; i++) await keep(store, noise(5000, i))
  })
  const path = join(folder, 'store.sqlite')
  const at = readFileSync(path).indexOf(noise(5000, 3).subarray(0, 64))
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.from('X'), 0, 1, at + 5)
  closeSync(file)
  const { events } = await salvaged(folder)
  expect(events.at(-1)).toMatchObject({ kind: 'salvaged', bodies: 9, lost_bodies: 1 })
})

test('what was not carried over to its end is when the store starts again; no purge goes before', async () => {
  const folder = await spoilt(async store => {
    await keep(store, 'x', { tenant: 'a', session: 's' })
  })
  const first = await salvaged(folder)
  await first.store.close()
  const [name] = readdirSync(folder).filter(entry => /damaged.*Z$/.test(entry))
  writeFileSync(join(folder, `${name}-unsalvaged`), '')
  const looking = await inlineStore({ folder, mustExist: true })
  expect(await looking.store.purgeTenant('a')).toMatchObject({ reason: 'busy' })
  const second = await salvaged(folder)
  expect(second.events).toMatchObject([{ kind: 'salvaged', bodies: 1 }])
  expect(must(await looking.store.purgeTenant('a')).bodies).toBe(1)
})

test.each([16, 18, 19, 20, 21, 28, 32, 44, 47, 52, 56, 59, 68, 71])(
  'a file whose head is damaged at byte %i takes puts again',
  async at => {
    const { store, folder } = await inlineStore()
    await keep(store, 'x')
    await store.close()
    const path = join(folder, 'store.sqlite')
    const bytes = readFileSync(path)
    bytes[at] = bytes[at]! ^ 0xff
    writeFileSync(path, bytes)
    const again = await inlineStore({ folder })
    await expect
      .poll(
        async () =>
          (await again.store.put([{ tenant: 'a', body: bytesOf('y'), mediaType: 'x' }]))[0]?.ok,
        { timeout: 5000 },
      )
      .toBe(true)
  },
)

test('a walk passes over what cannot be read and finds the first row after it', () => {
  const ids = [1, 2, 3, 50, 51, 9000]
  const isBad = (id: number) => (id >= 2 && id < 37) || id === 51
  const walk = createRowWalk(id => {
    if (isBad(id)) throw new Error('damaged')
    const next = ids.find(each => each > id)
    return next === undefined ? undefined : { id: next }
  })
  const found: unknown[] = []
  for (let row = walk.next(); row !== undefined; row = walk.next()) found.push(row['id'])
  expect(found).toEqual([1, 2, 50, 51, 9000])
  expect(walk.gaps).toBe(2)
})
