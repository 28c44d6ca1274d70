import { expect } from 'vitest'
import { type OpenOptions, openDatabase } from '../../../src/store/sqlite/open.ts'
import type { Store } from '../../../src/store/store.ts'
import { bytesOf } from './inline-store.ts'

/** Opens the real file, and lets a test decide what its statements do. */
export function faulty() {
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
export async function keepAgain(store: Store, body: string): Promise<void> {
  await expect
    .poll(async () => (await store.put([item(body)]))[0]?.ok, { timeout: 10_000 })
    .toBe(true)
  await expect.poll(() => store.load.state, { timeout: 5000 }).toBe('open')
}

export const item = (body: string) => ({
  tenant: 'a',
  body: bytesOf(body),
  mediaType: 'text/plain',
})
