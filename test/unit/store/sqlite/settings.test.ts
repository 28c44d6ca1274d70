import { describe, expect, test } from 'vitest'
import { settle } from '../../../../src/store/sqlite/settings.ts'

const MIB = 1024 * 1024
const folder = '/nowhere'

describe('settings', () => {
  test('have the defaults that docs/reference/store.md names', () => {
    expect(settle({ folder })).toEqual({
      folder,
      mustExist: false,
      maxBytes: 1024 * MIB,
      tenantMaxBytes: 1024 * MIB,
      maxBodyBytes: 16 * MIB,
      ttlMs: 30 * 60_000,
      tombstoneMs: 24 * 60 * 60_000,
      maxTombstones: 100_000,
      compressFromBytes: 8192,
      keys: [],
      groupCommitMs: 10,
      busyTimeoutMs: 800,
      cacheBytes: 32 * MIB,
      // The cap without the log's share of 48 MiB.
      maxPages: (976 * MIB) / 4096,
      checkpointPages: (8 * MIB) / 4096,
      transactionBytes: 8 * MIB,
    })
  })

  test('follow the cap where it is small', () => {
    expect(settle({ folder, maxBytes: 4 * MIB })).toMatchObject({
      tenantMaxBytes: 4 * MIB,
      maxBodyBytes: MIB / 4,
      maxTombstones: 2048,
      maxPages: (3.75 * MIB) / 4096,
      checkpointPages: 32,
      transactionBytes: MIB / 8,
    })
    expect(settle({ folder, maxBytes: 4 * MIB, maxBodyBytes: MIB }).maxBodyBytes).toBe(MIB / 4)
    expect(settle({ folder, maxBytes: 4 * MIB, maxBodyBytes: 10 }).maxBodyBytes).toBe(10)
  })

  test('are taken as they are given', () => {
    const key = { id: 'k'.repeat(64), key: new Uint8Array(32) }
    const given = {
      folder,
      mustExist: true,
      maxBytes: 100 * MIB,
      tenantMaxBytes: 7,
      maxBodyBytes: 6,
      ttlMs: 5,
      tombstoneMs: 4,
      maxTombstones: 0,
      compressFromBytes: null,
      keys: [key, { ...key, id: 'a' }],
      groupCommitMs: 0,
      busyTimeoutMs: 0,
      cacheBytes: 0,
    }
    expect(settle(given)).toMatchObject(given)
  })

  test.each([
    ['a cap below 4 MiB', { maxBytes: 4 * MIB - 1 }, 'maxBytes must be at least 4194304'],
    ['a cap that is no number', { maxBytes: Number.NaN }, 'maxBytes must be at least 4194304'],
    ['a short key', { keys: [{ id: 'k', key: new Uint8Array(31) }] }, 'key k must have 32 bytes'],
    [
      'a long id of a key',
      { keys: [{ id: 'k'.repeat(65), key: new Uint8Array(32) }] },
      'a key id has 1 to 64 characters',
    ],
  ])('%s is refused', (_, options, message) => {
    expect(() => settle({ folder, ...options })).toThrow(new RangeError(message))
  })
})
