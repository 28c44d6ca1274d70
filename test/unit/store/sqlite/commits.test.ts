import { hash } from 'node:crypto'
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inlineStore, keep, MINUTE, must, noise } from '../inline-store.ts'
import { killedNow } from './killed-log.ts'
import { plantedLedger, sqliteError } from './planted-commits.ts'

const HOUR = 60 * MINUTE
const sha = (text: string) => hash('sha256', text)

describe('a transaction', () => {
  test('takes no further call once it has lasted long enough', () => {
    const { commits, state, call, item } = plantedLedger({ groupCommitMs: 10 })
    const calls = [1, 2, 3, 4].map(i => call('put', item(`body ${i}`)))
    expect(commits.write(calls)).toHaveLength(4)
    let looks = 0
    Object.defineProperty(state, 'ms', { get: () => [0, 4, 9, 10][looks++] ?? 99 })
    expect(commits.write(calls)).toHaveLength(3)
  })

  test('takes no further body once it has enough bytes, but one at least', () => {
    // A transaction takes 128 KiB of a cap of 4 MiB.
    const { commits, call, item } = plantedLedger({ maxBytes: 4 * 1024 * 1024 })
    const put = (name: string, bytes: number) => ({ ...call('put', item(name)), bytes })
    expect(commits.write([put('a', 131_072), put('b', 1)])).toHaveLength(1)
    expect(commits.write([put('a', 131_071), put('b', 1), put('c', 1)])).toHaveLength(2)
    expect(commits.write([put('a', 999_999)])).toHaveLength(1)
  })

  test('counts commits, and calls that were refused', () => {
    const { commits, call, item, put, state } = plantedLedger({ maxBodyBytes: 10 })
    const counters = () => commits.read(call('stats', undefined)) as unknown as { counters: object }
    put('x')
    commits.write([call('put', item('y')), call('put', item(noise(11, 1))), call('put', item('z'))])
    expect(counters()).toMatchObject({ counters: { commits: 2, refused: 1, created: 3 } })
    state.before = sql => {
      if (sql === 'COMMIT') throw sqliteError(13)
    }
    commits.write([call('put', item('v')), call('put', item('w'))])
    expect(counters()).toMatchObject({ counters: { commits: 2, refused: 3 } })
  })

  test('with a call that is a bug fails that call alone, and is taken back', () => {
    const { commits, kinds, call, item, get } = plantedLedger()
    const broken = call('put', item('x', { mediaType: Symbol('no text') }))
    // The first goes alone; the others are given again by the loop.
    expect(commits.write([call('put', item('one')), broken])).toMatchObject([{ ok: true }])
    expect(commits.write([broken, call('put', item('two'))])).toMatchObject([{ reason: 'failed' }])
    expect([get(sha('one')).ok, get(sha('two')).ok]).toEqual([true, false])
    expect(new Set(kinds())).toEqual(new Set(['bug']))
  })
})

describe('a file that fails to be written', () => {
  test('is reported once, until it can be written again', () => {
    const { events, state, put } = plantedLedger()
    const failing = (errcode: number | null) => {
      state.before = sql => {
        if (sql === 'COMMIT' && errcode !== null) throw sqliteError(errcode)
      }
    }
    failing(5)
    // Another process that writes is no failure.
    expect(put('x')).toMatchObject({ reason: 'busy' })
    expect(events).toEqual([])
    failing(13)
    expect([put('x'), put('x')]).toMatchObject([{ reason: 'full' }, { reason: 'full' }])
    failing(null)
    expect([put('x').ok, put('y').ok]).toEqual([true, true])
    failing(8)
    expect(put('z')).toMatchObject({ reason: 'read_only' })
    expect(events).toMatchObject([
      { kind: 'write_failed', reason: 'full', detail: 'no room: what is kept is still needed' },
      { kind: 'write_recovered' },
      { kind: 'write_failed', reason: 'read_only', detail: "the store's file: planted 8" },
    ])
  })

  test('takes the transaction back by itself, if it is one that SQLite does not', () => {
    const { commits, state, put, get, call } = plantedLedger()
    state.before = sql => {
      if (sql === 'COMMIT') throw sqliteError(13)
    }
    put('x')
    state.before = () => {}
    expect(get(sha('x'))).toMatchObject({ reason: 'not_found' })
    // A transaction that was left open would refuse this.
    expect(put('y').ok).toBe(true)
    expect(commits.read(call('stats', undefined))).toMatchObject({ bodies: 1 })
  })

  test('a transaction that SQLite took back is not taken back again', () => {
    const { commits, state, put, get } = plantedLedger()
    put('x')
    const { database } = state.opened[0]!
    const exec = database.exec.bind(database)
    // The end of a read finds none, as after an error by which SQLite took it back.
    database.exec = sql => (sql === 'BEGIN' ? undefined : exec(sql))
    expect(get(sha('x')).ok).toBe(true)
    expect([commits.state, state.opened.length]).toEqual(['open', 1])
  })
})

describe('upkeep', () => {
  test('says whether more is due', () => {
    const { commits, state, call, item, put } = plantedLedger({ groupCommitMs: 1e9 })
    commits.write(
      Array.from({ length: 100 }, (_, i) => call('put', item(`body ${i}`, { ttlMs: 1 }))),
    )
    put('stays')
    state.now += 1
    expect(commits.upkeep(false)).toBe(true)
    expect(commits.upkeep(false)).toBe(false)
    expect(commits.read(call('stats', undefined))).toMatchObject({ bodies: 1 })
  })

  test('that fails is not due at once, and is reported', () => {
    const { commits, state, kinds, put } = plantedLedger()
    put('x', { ttlMs: 1 })
    state.now += 1
    state.before = sql => {
      if (sql === 'COMMIT') throw sqliteError(13)
    }
    expect(commits.upkeep(false)).toBe(false)
    expect(kinds()).toEqual(['write_failed'])
  })

  test('copies the log into the main file when nothing waits, once after writes', () => {
    const { commits, state, put } = plantedLedger()
    const copied: string[] = []
    state.before = sql => void (sql.includes('checkpoint') && copied.push(sql))
    put('x')
    expect(commits.upkeep(false)).toBe(false)
    expect(copied).toEqual([])
    expect(commits.upkeep(true)).toBe(false)
    expect(commits.upkeep(true)).toBe(false)
    expect(copied).toEqual(['PRAGMA wal_checkpoint(PASSIVE)'])
  })

  test('looks for old damaged files once an hour', () => {
    const { commits, folder, state } = plantedLedger()
    const old = 'store.sqlite.damaged-2029-01-01T00-00-00-000Z'
    const there = () => readdirSync(folder).includes(old)
    writeFileSync(join(folder, old), '')
    state.now += HOUR - 1
    commits.upkeep(true)
    expect(there()).toBe(true)
    state.now += 1
    commits.upkeep(true)
    expect(there()).toBe(false)
    // A clock that goes back is no reason to wait.
    writeFileSync(join(folder, old), '')
    state.now -= HOUR
    commits.upkeep(true)
    expect(there()).toBe(false)
  })
})

describe('a start', () => {
  const damagedBody = async (isClean: boolean) => {
    const { store, folder } = await inlineStore({ compressFromBytes: null })
    for (let i = 0; i < 70; i++) await keep(store, noise(100, i))
    const path = join(folder, 'store.sqlite')
    if (isClean) await store.close()
    const copy = join(killedNow(path), '..')
    const planted = plantedLedger({ folder: copy })
    const { database } = planted.state.opened[0]!
    database.exec(`UPDATE chunk SET data = x'00' WHERE id / 4096 = 70`)
    return planted
  }

  test('after a process that did not close it reads every body, beside the calls', async () => {
    const { commits, kinds, call } = await damagedBody(false)
    expect(commits.upkeep(false)).toBe(false)
    expect(kinds()).toEqual([])
    // 64 at once.
    expect(commits.upkeep(true)).toBe(true)
    expect(kinds()).toEqual([])
    while (commits.upkeep(true));
    expect(kinds()).toEqual(['damaged_body'])
    expect(commits.read(call('stats', undefined))).toMatchObject({ bodies: 69 })
  })

  test('after one that did reads none', async () => {
    const { commits, kinds } = await damagedBody(true)
    while (commits.upkeep(true));
    expect(kinds()).toEqual([])
  })

  test('after one that did not compares the sums at the end', async () => {
    const { commits, kinds, state } = await damagedBody(false)
    state.opened[0]!.database.exec(`UPDATE tenant SET bodies = bodies + 1`)
    while (commits.upkeep(true));
    expect(kinds()).toContain('damaged_file')
  })

  test('of one who looks reads none, sweeps nothing, and reports no folder', async () => {
    const { store, folder } = await inlineStore()
    await keep(store, 'x')
    const old = join(folder, 'store.sqlite.damaged-2029-01-01T00-00-00-000Z')
    const { commits, kinds } = plantedLedger({ folder, mustExist: true })
    writeFileSync(old, '')
    while (commits.upkeep(true));
    expect(kinds()).toEqual([])
    expect(readdirSync(folder)).toContain('store.sqlite.damaged-2029-01-01T00-00-00-000Z')
  })
})

describe('a file that is replaced', () => {
  const replace = (folder: string) => {
    for (const name of readdirSync(folder)) rmSync(join(folder, name))
  }

  test('is noticed by upkeep, which opens what is there now', () => {
    const { commits, folder, kinds, state, put, get } = plantedLedger()
    put('x')
    replace(folder)
    expect(commits.upkeep(true)).toBe(false)
    expect([kinds(), state.opened.length]).toEqual([['file_replaced'], 2])
    expect(get(sha('x'))).toMatchObject({ reason: 'not_found' })
    commits.upkeep(true)
    expect(kinds()).toEqual(['file_replaced'])
  })

  test('while a read fails is opened again, and the read goes on', () => {
    const { folder, kinds, state, put, get } = plantedLedger()
    put('x')
    state.before = (sql, connection) => {
      if (sql !== 'BEGIN' || connection > 1) return
      replace(folder)
      // An error that would not have been mended otherwise.
      throw sqliteError(13)
    }
    expect(get(sha('x'))).toMatchObject({ reason: 'not_found' })
    expect([kinds(), state.opened.length]).toEqual([['file_replaced'], 2])
  })

  test('again and again fails the read', () => {
    const { folder, state, put, get } = plantedLedger()
    put('x')
    state.before = sql => {
      if (sql !== 'BEGIN') return
      replace(folder)
      throw sqliteError(13)
    }
    expect(get(sha('x'))).toMatchObject({ reason: 'full' })
    expect(state.opened).toHaveLength(3)
  })
})

describe('closing', () => {
  test('copies all of the log, and leaves the main file alone', () => {
    const { commits, folder, put } = plantedLedger()
    put('x')
    commits.close()
    expect(readdirSync(folder)).toEqual(['store.sqlite'])
    expect(commits.state).toBe('unavailable')
    expect(put('y')).toMatchObject({ reason: 'unavailable' })
  })

  test('that fails is reported, and the file is closed all the same', () => {
    const { commits, events, state, put } = plantedLedger()
    put('x')
    state.before = sql => {
      if (sql.includes('TRUNCATE')) throw sqliteError(10 | (3 << 8))
    }
    commits.close()
    expect(events).toMatchObject([{ kind: 'write_failed', reason: 'failed' }])
    expect(state.opened[0]!.database.isOpen).toBe(false)
  })

  test('a connection that cannot be closed is reported', () => {
    const { commits, events, state, put } = plantedLedger()
    put('x')
    const { database } = state.opened[0]!
    const close = database.close.bind(database)
    database.close = () => {
      close()
      throw new Error('a disk')
    }
    commits.close()
    expect(events).toEqual([{ kind: 'write_failed', reason: 'failed', detail: 'Error: a disk' }])
  })
})

test('a folder that cannot be swept is reported, and nothing else', async () => {
  const { commits, folder, events, state } = plantedLedger()
  const away = `${folder}-away`
  renameSync(folder, away)
  try {
    state.now += HOUR
    commits.upkeep(false)
    expect(events[0]).toMatchObject({ kind: 'write_failed', reason: 'failed' })
  } finally {
    rmSync(folder, { recursive: true, force: true })
    renameSync(away, folder)
  }
  expect(must(commits.read({ op: 'stats', args: [undefined], bytes: 0 }) as never)).toBeDefined()
})
