import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  checkAll,
  checkFolder,
  checkTotals,
  inodeOf,
  openDatabase,
} from '../../../../src/store/sqlite/open.ts'
import { SCHEMA_VERSION } from '../../../../src/store/sqlite/schema.ts'
import { type SqliteStoreOptions, settle } from '../../../../src/store/sqlite/settings.ts'
import { DamagedFileError, isDamage } from '../../../../src/store/sqlite/sqlite-errors.ts'
import { tempFolder } from '../inline-store.ts'

const MIB = 1024 * 1024
const OURS = 0x48_56_53_4b

function opened(options: SqliteStoreOptions, thorough?: boolean): DatabaseSync {
  const settings = settle(options)
  const database = openDatabase(thorough === undefined ? { settings } : { settings, thorough })
  onTestFinished(() => {
    if (database.isOpen) database.close()
  })
  return database
}

/** A folder with a store in which `sql` was run. */
function changed(sql = ''): { readonly folder: string; readonly path: string } {
  const folder = tempFolder()
  opened({ folder }).close()
  const path = join(folder, 'store.sqlite')
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
  return { folder, path }
}

const pragma = (database: DatabaseSync, name: string) =>
  Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]

describe('a store that is opened', () => {
  test('has the settings that its promises rest on', () => {
    const database = opened({
      folder: tempFolder(),
      maxBytes: 64 * MIB,
      cacheBytes: MIB + 1,
      busyTimeoutMs: 123,
    })
    const names = ['page_size', 'auto_vacuum', 'journal_mode', 'synchronous', 'secure_delete']
    const limits = ['cache_size', 'wal_autocheckpoint', 'journal_size_limit', 'max_page_count']
    const values = [...names, ...limits, 'busy_timeout'].map(name => [name, pragma(database, name)])
    expect(Object.fromEntries(values)).toEqual({
      page_size: 4096,
      // Incremental.
      auto_vacuum: 2,
      journal_mode: 'wal',
      // Full: a commit is on the disk.
      synchronous: 2,
      // Fast.
      secure_delete: 2,
      cache_size: -1025,
      wal_autocheckpoint: 512,
      journal_size_limit: 2 * MIB,
      max_page_count: (60 * MIB) / 4096,
      busy_timeout: 123,
    })
    expect(pragma(database, 'application_id')).toBe(OURS)
    expect(pragma(database, 'user_version')).toBe(SCHEMA_VERSION)
  })

  test('is made with its folders, for the owner alone', () => {
    const folder = join(tempFolder(), 'a', 'b')
    opened({ folder })
    for (const path of [folder, join(folder, '..')]) expect(statSync(path).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, 'store.sqlite')).mode & 0o777).toBe(0o600)
  })

  test('where it must exist, is the one that is there', () => {
    const { folder } = changed("INSERT INTO tenant (name) VALUES ('x')")
    const database = opened({ folder, mustExist: true })
    expect(database.prepare('SELECT name FROM tenant').all()).toMatchObject([{ name: 'x' }])
  })
})

describe('a header', () => {
  const SHOWN = 'its header does not fit its tables'

  test.each([
    ['another mark', 'PRAGMA application_id = 7', SHOWN],
    ['no mark', 'PRAGMA application_id = 0', SHOWN],
    ['no version', 'PRAGMA user_version = 0', SHOWN],
    ['a version below zero', 'PRAGMA user_version = -1', SHOWN],
    ['a version that cannot be', `PRAGMA user_version = ${SCHEMA_VERSION + 101}`, SHOWN],
  ])('with %s over our tables is damaged', (_, sql, message) => {
    const { folder, path } = changed(sql)
    expect(() => opened({ folder })).toThrow(new DamagedFileError(message))
    // No connection is left: the log would be there.
    expect(existsSync(`${path}-wal`)).toBe(false)
  })

  test.each([1, 100])('with a version that is %i later is of a newer program', later => {
    const { folder } = changed(`PRAGMA user_version = ${SCHEMA_VERSION + later}`)
    expect(() => opened({ folder })).toThrow(
      `the store has schema ${SCHEMA_VERSION + later}, this version knows ${SCHEMA_VERSION}`,
    )
  })

  test('with our mark over tables of a later program is of that, whatever its version', () => {
    const sql = `CREATE TABLE later (x); PRAGMA user_version = ${SCHEMA_VERSION + 101}`
    const { folder } = changed(sql)
    expect(() => opened({ folder })).toThrow(/use a newer haversack/)
  })

  test.each([18, 19])('that asks for a later format at byte %i is damaged', at => {
    const { folder, path } = changed()
    const file = openSync(path, 'r+')
    writeSync(file, Buffer.from([3]), 0, 1, at)
    closeSync(file)
    expect(() => opened({ folder })).toThrow(expect.toSatisfy(isDamage))
  })
})

describe('a main file that is empty', () => {
  test('beside a log is damaged, and the log stays', () => {
    const folder = tempFolder()
    const path = join(folder, 'store.sqlite')
    writeFileSync(`${path}-wal`, 'x')
    for (const make of [() => {}, () => writeFileSync(path, '')]) {
      make()
      expect(() => opened({ folder })).toThrow('the main file is empty, its log is not')
      expect(statSync(`${path}-wal`).size).toBe(1)
    }
  })
})

describe('all pages', () => {
  test('are read only if there is reason to', () => {
    const { folder } = changed(`INSERT INTO tenant (name, bodies) VALUES ('a', 1)`)
    opened({ folder }).close()
    opened({ folder }, false).close()
    expect(() => opened({ folder }, true)).toThrow('it has 0 bodies, lists 0, and should have 1')
  })

  test('and tables, indexes and sums are compared', () => {
    const { folder } = changed()
    const database = opened({ folder })
    checkAll(database)
    checkTotals(database)
    database.exec(`INSERT INTO tenant (name, bodies) VALUES ('a', 2), ('b', 1)`)
    expect(() => checkTotals(database)).toThrow(DamagedFileError)
    expect(() => checkAll(database)).toThrow('it has 0 bodies, lists 0, and should have 3')
  })
})

describe('the folder', () => {
  test.each([
    [0o700, undefined],
    [0o500, undefined],
    [0o701, '701'],
    [0o740, '740'],
    [0o755, '755'],
  ])('of mode %o', (mode, told) => {
    const folder = tempFolder()
    chmodSync(folder, mode)
    const events: unknown[] = []
    checkFolder(settle({ folder }), event => events.push(event))
    expect(events).toEqual(told === undefined ? [] : [{ kind: 'open_folder', folder, mode: told }])
    chmodSync(folder, 0o700)
  })
})

test('a file is told from another of its name', () => {
  const { path } = changed()
  expect(inodeOf(path)).toBe(statSync(path).ino)
  expect(inodeOf(`${path}x`)).toBeUndefined()
})
