import { DatabaseSync } from 'node:sqlite'
import { onTestFinished } from 'vitest'
import { createCounters } from '../../../../src/store/sqlite/counters.ts'
import { createEngine } from '../../../../src/store/sqlite/engine.ts'
import { migrate } from '../../../../src/store/sqlite/schema.ts'
import { type SqliteStoreOptions, settle } from '../../../../src/store/sqlite/settings.ts'
import type { Result } from '../../../../src/store/store.ts'
import type { StoreEvent } from '../../../../src/store/values/store-event.ts'
import { bytesOf, must, START } from '../inline-store.ts'

/** An engine over a database in memory: nothing happens but by a call. */
export function memoryEngine(options: Partial<SqliteStoreOptions> = {}) {
  const database = new DatabaseSync(':memory:')
  onTestFinished(() => database.close())
  // Before the first table, as when a file is made.
  database.exec('PRAGMA auto_vacuum = INCREMENTAL')
  migrate(database)
  const clock = { now: START }
  const events: StoreEvent[] = []
  const { count, values: counters } = createCounters()
  const open = () =>
    createEngine(database, {
      settings: settle({ folder: '/nowhere', compressFromBytes: null, ...options }),
      clock: () => clock.now,
      count,
      counters,
      onEvent: event => events.push(event),
    })
  const engine = open()

  /** Keeps a body of a tenant `a`. */
  function put(body: string | Uint8Array, fields: object = {}) {
    const item = { tenant: 'a', body: bytesOf(body), mediaType: 'x', ...fields }
    return must(engine.writes.put(item))
  }

  const reasonOf = (result: Result<object>) => (result.ok ? 'ok' : result.reason)
  return { engine, database, clock, events, counters, put, reasonOf, open }
}
