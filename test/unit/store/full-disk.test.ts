import type { SQLInputValue } from 'node:sqlite'
import { expect, test } from 'vitest'
import { checkAll, type OpenOptions, openDatabase } from '../../../src/store/sqlite/open.ts'
import type { Result } from '../../../src/store/store.ts'
import { bytesOf, inlineStore, keep, must, text } from './inline-store.ts'

const FULL = 13

/** Opens the real file; the statement that is `state.left` writes away finds the disk full. */
function fillingDisk() {
  const state = { left: Number.POSITIVE_INFINITY, check: () => {} }
  const open = (options: OpenOptions) => {
    const database = openDatabase(options)
    state.check = () => checkAll(database)
    const prepare = database.prepare.bind(database)
    const exec = database.exec.bind(database)
    const write = () => {
      if (--state.left !== 0) return
      // SQLite itself takes the transaction back.
      if (database.isTransaction) exec('ROLLBACK')
      throw Object.assign(new Error('planted'), { errcode: FULL })
    }
    database.prepare = sql => {
      const statement = prepare(sql)
      const run = statement.run.bind(statement)
      statement.run = ((...values: SQLInputValue[]) => {
        write()
        return run(...values)
      }) as typeof run
      return statement
    }
    database.exec = sql => {
      if (/^COMMIT/.test(sql)) write()
      exec(sql)
    }
    return database
  }
  return { state, open }
}

/** Calls that write, with what must be so afterwards; `round` makes tenants and bodies new. */
const CALLS = ['put', 'put again', 'touch', 'record', 'record again', 'purge', 'purge all'] as const

test.each(CALLS)('%s: at each write in turn the disk is full', async name => {
  const { state, open } = fillingDisk()
  const { store } = await inlineStore({ open })
  const { hash: ref } = await keep(store, 'before', { tenant: 'steady' })
  let isFaultMet = true
  let round = 0
  for (; isFaultMet; round++) {
    const tenant = `t${round}`
    const item = { tenant, session: 's', body: bytesOf(`body ${round}`), mediaType: 'x' }
    const key = { tenant, namespace: 'n', key: 'k' }
    const calls: Record<(typeof CALLS)[number], () => Promise<Result<object>>> = {
      put: async () => (await store.put([item]))[0]!,
      'put again': async () => (await store.put([{ ...item, session: 'again' }]))[0]!,
      touch: async () =>
        (await store.touch([{ tenant, ref: hash, ttlMs: 9e6, pinUntil: 9e15 }]))[0]!,
      record: () => store.writeRecord({ ...key, value: bytesOf('x'), ifVersion: 0 }),
      'record again': () => store.writeRecord({ ...key, value: bytesOf('y') }),
      purge: () => store.purgeSession(tenant, 's'),
      'purge all': () => store.purgeTenant(tenant),
    }
    let hash = ''
    if (name !== 'put' && name !== 'record') {
      hash = (await keep(store, item.body, { tenant, session: 's' })).hash
      if (name === 'record again') must(await calls.record())
    }
    state.left = round + 1
    const refused = await calls[name]()
    isFaultMet = state.left <= 0
    state.left = Number.POSITIVE_INFINITY
    // Upkeep may have met it in place of the call.
    if (!refused.ok) expect(refused).toMatchObject({ reason: 'full' })
    expect(text(must(await store.get({ tenant: 'steady', ref })).body)).toBe('before')
    if (!refused.ok) must(await calls[name]())
    state.check()
  }
  expect(round).toBeGreaterThan(2)
  must(await store.prune())
  // Upkeep may remove the rest of a purge between two calls.
  const difference = async () => {
    const { bodies } = must(await store.stats())
    const { checked, damaged } = must(await store.verify(1000))
    return { bodies: bodies - checked, damaged }
  }
  await expect.poll(difference).toEqual({ bodies: 0, damaged: 0 })
})
