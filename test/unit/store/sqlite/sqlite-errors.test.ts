import { describe, expect, test } from 'vitest'
import {
  DamagedFileError,
  isDamage,
  isLostConnection,
  isOdd,
  isReadOnly,
  sqliteFailure,
} from '../../../../src/store/sqlite/sqlite-errors.ts'

/** An error as `node:sqlite` throws it. */
function sqliteError(errcode: number): Error {
  return Object.assign(new Error(`code ${errcode}`), { errcode })
}

const IOERR = 10
const io = (part: number) => IOERR | (part << 8)

/** Everything that is asked about an error. */
function about(error: unknown) {
  return {
    damage: isDamage(error),
    odd: isOdd(error),
    lost: isLostConnection(error),
    readOnly: isReadOnly(error),
    reason: sqliteFailure(error)?.reason,
  }
}

const NOTHING = { damage: false, odd: false, lost: false, readOnly: false, reason: 'failed' }

describe('what an error of SQLite means', () => {
  test.each([
    ['busy', 5, { reason: 'busy' }],
    ['busy, extended', 5 | (2 << 8), { reason: 'busy' }],
    ['locked', 6, { reason: 'busy' }],
    ['read-only', 8, { reason: 'read_only', readOnly: true }],
    ['read-only, for another reason', 8 | (4 << 8), { reason: 'read_only' }],
    ['corrupt', 11, { damage: true }],
    ['corrupt, extended', 11 | (1 << 8), { damage: true }],
    ['full', 13, { reason: 'full' }],
    ['cannot be opened', 14, { reason: 'read_only' }],
    ['not a database', 26, { damage: true }],
    ['out of memory', 7, {}],
    ['too big', 18, { odd: true }],
    ['an input or output error', IOERR, { lost: true }],
  ])('%s', (_, errcode, means) => {
    expect(about(sqliteError(errcode))).toEqual({ ...NOTHING, ...means })
  })

  test.each([1, 2, 17, 18, 19, 20, 24])('%i is odd, with an extended code too', code => {
    for (const errcode of [code, code | (3 << 8)]) {
      expect(about(sqliteError(errcode))).toEqual({ ...NOTHING, odd: true })
    }
  })

  test('input or output: reading shows damage, writing does not end the connection', () => {
    const parts = Array.from({ length: 40 }, (_, part) => part)
    expect(parts.filter(part => isDamage(sqliteError(io(part))))).toEqual([1, 2, 32, 33])
    const kept = parts.filter(part => !isLostConnection(sqliteError(io(part))))
    expect(kept).toEqual([3, 4, 5, 6, 10, 13, 19])
  })
})

describe('any other error', () => {
  test.each([
    ['a plain one', new Error('x')],
    ['no error', { errcode: 11 }],
    ['nothing', undefined],
  ])('%s means nothing of the kind', (_, error) => {
    expect(about(error)).toEqual({ ...NOTHING, reason: undefined })
    expect(sqliteFailure(error)).toBeUndefined()
  })

  test('a file that was found damaged by us is damaged', () => {
    const means = { ...NOTHING, damage: true, reason: undefined }
    expect(about(new DamagedFileError('x'))).toEqual(means)
  })
})

test('a client learns what failed, but not how full the store is', () => {
  expect(sqliteFailure(sqliteError(8))).toEqual({
    ok: false,
    reason: 'read_only',
    detail: "the store's file: code 8",
  })
  expect(sqliteFailure(sqliteError(13))?.detail).toBe('no room: what is kept is still needed')
})
