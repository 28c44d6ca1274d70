import { rmSync, truncateSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { inspectLog } from '../../../../src/store/sqlite/inspect-log.ts'
import {
  edit,
  FRAME_BYTES,
  HEADER_BYTES,
  inFrame,
  killedAfterWrites,
  killedNow,
  loggedDatabase,
  walSum,
} from './killed-log.ts'

/** Flips the bits of one byte. */
function flip(path: string, at: number): void {
  edit(path, bytes => {
    bytes[at] = bytes[at]! ^ 0xff
  })
}

const cut = (lostPages: number | null, what: string) => ({
  lostPages,
  detail: `the log is cut: ${what}`,
})

describe('a log that is whole', () => {
  test('misses nothing, with its index and without', () => {
    const { path } = killedAfterWrites()
    expect(inspectLog(path)).toBeNull()
    rmSync(`${path}-shm`)
    expect(inspectLog(path)).toBeNull()
  })

  test('misses nothing if it was copied into the main file and is gone', () => {
    const { database, path, write } = loggedDatabase()
    write()
    database.exec('PRAGMA wal_checkpoint(PASSIVE)')
    const copy = killedNow(path, ['', '-shm'])
    database.close()
    expect(inspectLog(copy)).toBeNull()
    rmSync(`${copy}-shm`)
    expect(inspectLog(copy)).toBeNull()
  })

  test('may have frames of an earlier generation after its own', () => {
    const { database, path, write } = loggedDatabase()
    for (let i = 0; i < 5; i++) write()
    database.exec('PRAGMA wal_checkpoint(RESTART)')
    write()
    const copy = killedNow(path)
    expect(inspectLog(copy)).toBeNull()
    rmSync(`${copy}-shm`)
    expect(inspectLog(copy)).toBeNull()
    database.close()
  })

  test('is read in either byte order of its checksums', () => {
    const { path, commits } = killedAfterWrites()
    rmSync(`${path}-shm`)
    const isBig = true
    edit(`${path}-wal`, bytes => {
      bytes.writeUInt32BE(0x377f0683, 0)
      let sum = walSum(bytes.subarray(0, 24), isBig)
      const write = (at: number) =>
        sum.forEach((word, i) => void bytes.writeUInt32BE(word, at + 4 * i))
      write(24)
      for (let at = HEADER_BYTES; at < bytes.length; at += FRAME_BYTES) {
        sum = walSum(bytes.subarray(at, at + 8), isBig, sum)
        sum = walSum(bytes.subarray(at + 24, at + FRAME_BYTES), isBig, sum)
        write(at + 16)
      }
    })
    expect(inspectLog(path)).toBeNull()
    flip(`${path}-wal`, inFrame(commits[2], 100))
    const lost = commits[4] - commits[1]
    expect(inspectLog(path)).toEqual(cut(lost, `frame ${commits[2]} does not check`))
    flip(`${path}-wal`, inFrame(commits[2], 100))
    // SQLite takes it as it is, so it was written as SQLite writes it.
    const database = new DatabaseSync(path)
    expect(database.prepare('SELECT count(*) AS rows FROM t').get()).toEqual({ rows: 5 })
    database.close()
  })
})

describe('a frame that does not check', () => {
  const places = { page: 0, size: 4, salt: 8, 'other salt': 15, sum: 16, 'second sum': 23 }

  test.each([
    ...Object.entries(places),
    ['first byte', 24],
    ['last byte', FRAME_BYTES - 1],
  ] as const)('in its %s: all from its transaction on is missing, by the index', (_, byte) => {
    const { path, commits } = killedAfterWrites()
    flip(`${path}-wal`, inFrame(commits[2] + 2, byte))
    const lost = commits[4] - commits[2]
    const what = `frame ${commits[2] + 1} of ${commits[4]} does not check`
    expect(inspectLog(path)).toEqual(cut(lost, what))
  })

  test.each([1, 2, 3, 4] as const)(
    'in transaction %i: without an index later commits show what is missing',
    transaction => {
      const { path, commits } = killedAfterWrites()
      rmSync(`${path}-shm`)
      flip(`${path}-wal`, inFrame(commits[transaction], 1000))
      const before = commits[transaction - 1]!
      const whole = cut(commits[4] - before, `frame ${commits[transaction]} does not check`)
      // What follows the last commit cannot be told from what was never finished.
      expect(inspectLog(path)).toEqual(transaction === 4 ? null : whole)
    },
  )

  test('of a transaction that never ended is no loss without an index', () => {
    const { path, commits } = killedAfterWrites()
    rmSync(`${path}-shm`)
    flip(`${path}-wal`, inFrame(commits[2] + 1, 1000))
    // The rest of its transaction without the commit.
    truncateSync(`${path}-wal`, inFrame(commits[3], 0))
    expect(commits[3] - commits[2]).toBeGreaterThan(3)
    expect(inspectLog(path)).toBeNull()
  })

  test.each([8, 12])(
    'is followed by frames of the log if but one salt fits: not that at %i',
    at => {
      const { path, commits } = killedAfterWrites()
      rmSync(`${path}-shm`)
      flip(`${path}-wal`, inFrame(commits[1], 1000))
      for (let frame = commits[1] + 1; frame <= commits[4]; frame++) {
        flip(`${path}-wal`, inFrame(frame, at))
      }
      const what = `frame ${commits[1]} does not check`
      expect(inspectLog(path)).toEqual(cut(commits[4] - commits[0], what))
      for (let frame = commits[1] + 1; frame <= commits[4]; frame++) {
        flip(`${path}-wal`, inFrame(frame, 20 - at))
      }
      expect(inspectLog(path)).toBeNull()
    },
  )

  test('a log that ends in the middle of a frame has lost what its index counts', () => {
    const { path, commits } = killedAfterWrites()
    truncateSync(`${path}-wal`, inFrame(commits[4], FRAME_BYTES - 1))
    const lost = commits[4] - commits[3]
    const what = `frame ${commits[3] + 1} of ${commits[4]} does not check`
    expect(inspectLog(path)).toEqual(cut(lost, what))
    rmSync(`${path}-shm`)
    expect(inspectLog(path)).toBeNull()
  })
})

describe('a log without its header', () => {
  test.each([0, 3, 8, 11, 16, 19, 20, 23, 24, 27, 28, 31])('byte %i: all of it is missing', at => {
    const { path, commits } = killedAfterWrites()
    flip(`${path}-wal`, at)
    const what = `frame 1 of ${commits[4]} does not check`
    expect(inspectLog(path)).toEqual(cut(commits[4], what))
    rmSync(`${path}-shm`)
    expect(inspectLog(path)).toEqual(cut(null, 'its header does not check'))
  })

  test.each([1, 31])('%i bytes of it: all is missing', size => {
    const { path, commits } = killedAfterWrites()
    truncateSync(`${path}-wal`, size)
    const what = `frame 1 of ${commits[4]} does not check`
    expect(inspectLog(path)).toEqual(cut(commits[4], what))
    rmSync(`${path}-shm`)
    expect(inspectLog(path)).toEqual(cut(null, 'its header does not check'))
  })

  test('a header alone has nothing to miss', () => {
    const { path } = killedAfterWrites()
    truncateSync(`${path}-wal`, HEADER_BYTES)
    rmSync(`${path}-shm`)
    expect(inspectLog(path)).toBeNull()
  })

  test('of which all was copied has lost nothing but its name', () => {
    const { database, path, write } = loggedDatabase()
    write()
    database.exec('PRAGMA wal_checkpoint(PASSIVE)')
    const copy = killedNow(path)
    database.close()
    flip(`${copy}-wal`, 24)
    expect(inspectLog(copy)).toEqual(cut(null, 'its header does not check'))
  })
})

describe('a log that is gone', () => {
  test.each(['empty', 'missing'])('%s: what was not copied is lost', how => {
    const { database, path, write } = loggedDatabase()
    const first = write()
    const reader = new DatabaseSync(path)
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM t').get()
    const second = write(20_000)
    // No further than the reader has seen.
    database.exec('PRAGMA wal_checkpoint(PASSIVE)')
    const copy = killedNow(path, ['', '-shm'])
    reader.close()
    database.close()
    if (how === 'empty') writeFileSync(`${copy}-wal`, '')
    expect(inspectLog(copy)).toEqual(cut(second - first, 'it is not there'))
  })
})

describe('the index of another generation', () => {
  /** The log and the index before and after the log was begun again. */
  function generations() {
    const { database, path, write } = loggedDatabase()
    const frames = write()
    const before = killedNow(path)
    database.exec('PRAGMA wal_checkpoint(RESTART)')
    const later = [write(), write(), write(), write()].length
    const after = killedNow(path)
    database.exec('PRAGMA wal_checkpoint(PASSIVE)')
    const copied = killedNow(path, ['-shm'])
    database.close()
    return { before, after, copied, frames, later }
  }
  const index = (from: string, to: string) =>
    edit(`${from}-shm`, bytes => writeFileSync(`${to}-shm`, bytes))

  test('an earlier one says nothing: power was lost before it was written', () => {
    const { before, after } = generations()
    index(before, after)
    expect(inspectLog(after)).toBeNull()
    // It says nothing about a frame either, but later ones do.
    flip(`${after}-wal`, inFrame(1, 1000))
    expect(inspectLog(after)).toMatchObject({ detail: 'the log is cut: frame 1 does not check' })
  })

  test('a later one shows that the log is an old one', () => {
    const { before, after, later } = generations()
    index(after, before)
    expect(inspectLog(before)).toMatchObject({
      detail: expect.stringMatching(/frame 1 of \d+ does not check/),
    })
    expect(later).toBe(4)
  })

  test('a later one of which all was copied makes an old log harmless', () => {
    const { before, copied } = generations()
    index(copied, before)
    expect(inspectLog(before)).toBeNull()
  })
})

test.each([
  [1, null],
  [2 ** 31 - 1, null],
  [2 ** 31, 'frame 1 of'],
  [2 ** 32 - 1, 'frame 1 of'],
])('an index of a generation that is %i earlier', (earlier, told) => {
  const { path } = killedAfterWrites()
  edit(`${path}-shm`, bytes => {
    for (const copy of [0, 48]) {
      bytes.writeUInt32BE((bytes.readUInt32BE(copy + 32) - earlier) >>> 0, copy + 32)
      const sum = walSum(bytes.subarray(copy, copy + 40), false)
      sum.forEach((word, i) => void bytes.writeUInt32LE(word, copy + 40 + 4 * i))
    }
  })
  const found = inspectLog(path)
  if (told === null) expect(found).toBeNull()
  else expect(found?.detail).toContain(told)
})

describe('an index that does not check', () => {
  /** A log that has lost its last transaction, which only the index shows. */
  function shortened() {
    const { path, commits } = killedAfterWrites()
    truncateSync(`${path}-wal`, inFrame(commits[4], 0))
    expect(inspectLog(path)).not.toBeNull()
    return path
  }

  test.each([0, 12, 16, 32, 39, 40, 43, 44, 47, 48, 64, 88, 95])('byte %i: it is not used', at => {
    const path = shortened()
    flip(`${path}-shm`, at)
    expect(inspectLog(path)).toBeNull()
  })

  test('one that is not set up is not used, nor is one that is too short', () => {
    const path = shortened()
    truncateSync(`${path}-shm`, 136)
    expect(inspectLog(path)).not.toBeNull()
    edit(`${path}-shm`, bytes => {
      for (const copy of [0, 48]) {
        bytes[copy + 12] = 0
        const sum = walSum(bytes.subarray(copy, copy + 40), false)
        sum.forEach((word, i) => void bytes.writeUInt32LE(word, copy + 40 + 4 * i))
      }
    })
    expect(inspectLog(path)).toBeNull()
    const other = shortened()
    truncateSync(`${other}-shm`, 135)
    expect(inspectLog(other)).toBeNull()
  })

  test('both copies in the same way: its checksum shows it', () => {
    const path = shortened()
    for (const at of [16, 64]) flip(`${path}-shm`, at)
    expect(inspectLog(path)).toBeNull()
  })
})
