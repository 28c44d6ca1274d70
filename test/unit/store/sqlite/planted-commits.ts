import type { DatabaseSync } from 'node:sqlite'
import { onTestFinished } from 'vitest'
import { Commits } from '../../../../src/store/sqlite/commits.ts'
import { type OpenOptions, openDatabase } from '../../../../src/store/sqlite/open.ts'
import type { OperationName } from '../../../../src/store/sqlite/protocol.ts'
import { type SqliteStoreOptions, settle } from '../../../../src/store/sqlite/settings.ts'
import type { StoreEvent } from '../../../../src/store/values/store-event.ts'
import { bytesOf, START, tempFolder } from '../inline-store.ts'

/** An error as SQLite throws it. */
export function sqliteError(errcode: number): Error {
  return Object.assign(new Error(`planted ${errcode}`), { errcode })
}

/**
 * A commits over a real file. `state.before` is called before each `exec` of a connection, and may
 * throw; `state.opened` are the connections so far.
 */
export function plantedLedger(options: Partial<SqliteStoreOptions> = {}) {
  const folder = options.folder ?? tempFolder()
  const events: StoreEvent[] = []
  const state = {
    now: START,
    ms: 0,
    opened: [] as { database: DatabaseSync; thorough: boolean }[],
    before: (_sql: string, _connection: number): void => {},
    /** Instead of opening the file, throws what this returns, if anything. */
    refuse: (): Error | null => null,
  }
  const open = (request: OpenOptions) => {
    const refusal = state.refuse()
    if (refusal !== null) throw refusal
    const database = openDatabase(request)
    const connection = state.opened.push({ database, thorough: request.thorough === true })
    const exec = database.exec.bind(database)
    database.exec = sql => {
      state.before(sql, connection)
      exec(sql)
    }
    return database
  }
  const commits: Commits = new Commits({
    settings: settle({ folder, ...options }),
    clock: () => state.now,
    stopwatch: () => state.ms,
    onEvent: event => events.push(event),
    open,
  })
  onTestFinished(() => commits.close())
  const call = (op: OperationName, ...args: unknown[]) => ({ op, args, bytes: 0 })
  const item = (body: string | Uint8Array, fields: object = {}) => {
    return { tenant: 'a', body: bytesOf(body), mediaType: 'x', ...fields }
  }
  const put = (body: string | Uint8Array, fields: object = {}) =>
    commits.write([call('put', item(body, fields))])[0]!
  const get = (ref: string) => commits.read(call('get', { tenant: 'a', ref }))
  const kinds = () => events.map(({ kind }) => kind)
  return { commits, folder, events, kinds, state, call, item, put, get }
}
