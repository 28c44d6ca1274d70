import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ANONYMOUS, createAccess, LOCAL } from '../../../src/access/access.ts'
import { keyRecordSchema, makeKey, SCOPES } from '../../../src/access/key-record.ts'
import { KeysFileError, readKeysFile } from '../../../src/access/keys-file.ts'
import { createRateLimit } from '../../../src/access/limits.ts'
import type { AppError } from '../../../src/core/base/errors.ts'
import { keyFor } from '../../support/keys.ts'

const { record } = keyFor('acme')
const takes = (fields: object) => keyRecordSchema.safeParse({ ...record, ...fields }).success
const x = (length: number) => 'x'.repeat(length)

describe('a record', () => {
  it.each([
    ['id', ['abcd', 'a-_9', x(32)], ['abc', x(33), 'ab cd', 'abcd\n', '\nabcd', 'abc.']],
    ['tenant', ['a', '7', 'A.b-c_9', x(63)], ['', '.a', '-a', '_a', x(64), 'a b', 'a\n', '\na']],
    ['sha256', ['0f'.repeat(32)], [x(64), '0'.repeat(63), '0'.repeat(65), `${'0'.repeat(64)}\n`]],
    ['rate_per_s', [0.001, 1e6, undefined], [0.0009, 1e6 + 1, -1]],
    ['burst', [1, 1e6, undefined], [0, 1e6 + 1, -1, 0.5]],
    ['max_concurrent', [1, undefined], [0, -1, 1.5]],
    ['note', ['', x(200), undefined], [x(201), 1]],
    ['created_at', [0, 1], [-1, 0.5, undefined]],
    ['redeems', [true, false, undefined], ['yes', 1]],
    ['references', [true, false, undefined], ['yes', 1]],
    ['scopes', [['encode'], [...SCOPES]], [[], ['all'], undefined]],
    ['teams', [['a'], undefined], [[], Array(1_001).fill('a')]],
  ])('takes these values of %s, and no others', (field, good, bad) => {
    for (const value of good) expect(takes({ [field]: value }), JSON.stringify(value)).toBe(true)
    for (const value of bad) expect(takes({ [field]: value }), JSON.stringify(value)).toBe(false)
  })

  it('lets no client fetch originals if it does not say so', () => {
    const { redeems: _, ...bare } = record
    expect(keyRecordSchema.parse(bare).redeems).toBe(false)
  })

  it('is of a key that scanners can find, with an id of 12 digits', () => {
    const { key, id } = makeKey()
    expect(key).toMatch(/^hvs_[\w-]{43}$/)
    expect(id).toMatch(/^[0-9a-f]{12}$/)
  })
})

/** What the client is told. */
function refusal(attempt: () => unknown): Pick<AppError, 'code' | 'detail' | 'extras'> {
  try {
    attempt()
  } catch (error) {
    return error as AppError
  }
  throw new Error('it was not refused')
}

describe('a caller', () => {
  it('that is not known may do nothing, and one without keys everything', () => {
    expect(ANONYMOUS).toEqual({
      tenant: '',
      keyId: '',
      scopes: new Set(),
      redeems: false,
      references: false,
      teams: null,
      member: null,
      project: null,
      maxConcurrent: Number.POSITIVE_INFINITY,
      rate: null,
    })
    expect(LOCAL).toEqual({ ...ANONYMOUS, tenant: 'local', scopes: new Set(SCOPES), redeems: true })
  })

  it('needs one of several scopes, and is told which', () => {
    const proxy = keyFor('acme', { scopes: ['proxy'] })
    const access = createAccess([proxy.record], () => 0)
    const caller = access.identify(() => proxy.key)
    expect(() => access.allow(caller, ['admin', 'proxy'])).not.toThrow()
    expect(refusal(() => access.allow(caller, ['admin', 'metrics']))).toMatchObject({
      code: 'forbidden',
      detail: 'the key lacks the scope admin or metrics',
    })
    expect(refusal(() => access.allow(caller, []))).toMatchObject({ code: 'forbidden' })
  })

  it('is told whether its key is missing, wrong or used up', () => {
    const slow = keyFor('acme', { rate_per_s: 1 })
    const access = createAccess([slow.record], () => 0)
    expect(refusal(() => access.identify(() => undefined)).detail).toBe('a key is needed')
    expect(refusal(() => access.identify(() => 'hvs_x')).detail).toBe('the key is not valid')
    const caller = access.identify(() => slow.key)
    access.allow(caller, 'any')
    expect(refusal(() => access.allow(caller, 'any'))).toMatchObject({
      detail: 'the key has used up its rate',
      extras: { retry_after_s: 1 },
    })
  })

  it('has the teams and the member of its key', () => {
    const bound = keyFor('acme', { teams: ['red', 'blue'], member: 'ann' })
    const caller = createAccess([bound.record], () => 0).identify(() => bound.key)
    expect(caller).toMatchObject({ teams: new Set(['red', 'blue']), member: 'ann' })
  })
})

describe('a rate', () => {
  it('gains nothing from a clock that goes back, and counts on from there', () => {
    const limit = createRateLimit(1, 1, 10_000)
    expect(limit.take(10_000)).toBe(0)
    expect(limit.take(0)).toBe(1_000)
    expect(limit.take(500)).toBe(500)
    expect(limit.take(1_000)).toBe(0)
  })

  it('never holds more than its burst', () => {
    const limit = createRateLimit(10, 2, 0)
    const waits = [0, 0, 0].map(() => limit.take(1e9))
    expect(waits).toEqual([0, 0, 100])
  })
})

it('a keys file with faults is an error of that name, which names only short fields', () => {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-records-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'keys.json')
  const odd = { [x(20)]: 1, [x(21)]: 1, 'a b': 1, A: 1 }
  writeFileSync(path, JSON.stringify({ version: 1, keys: [{ ...record, ...odd }] }))
  const read = () => readKeysFile(path)
  expect(read).toThrow(KeysFileError)
  const expected = `${path}: keys.0: unknown fields "${x(20)}"`
  expect(read).toThrow(expect.objectContaining({ name: 'KeysFileError', message: expected }))
})
