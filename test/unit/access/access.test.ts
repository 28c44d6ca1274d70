import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type Access, createAccess, LOCAL } from '../../../src/access/access.ts'
import { type KeyRecord, makeKey, SCOPES } from '../../../src/access/key-record.ts'
import type { AppError } from '../../../src/core/base/errors.ts'
import { keyFor } from '../../support/keys.ts'

const problem = (code: string) => expect.objectContaining({ code })
const still = () => 0

function accessTo(...keys: readonly { record: KeyRecord }[]): Access {
  return createAccess(
    keys.map(({ record }) => record),
    still,
  )
}

/** How many requests of the key pass in a row. */
function passing(access: Access, key: string, tries = 20): number {
  for (let count = 0; count < tries; count++) {
    try {
      access.allow(
        access.identify(() => key),
        'encode',
      )
    } catch (error) {
      expect(error).toEqual(problem('rate_limited'))
      return count
    }
  }
  return tries
}

describe('a key', () => {
  it('is told by all of it', () => {
    const { key, record } = keyFor('acme', { redeems: true, max_concurrent: 4 })
    const access = accessTo({ record }, keyFor('beta'))
    expect(access.identify(() => key)).toEqual({
      tenant: 'acme',
      keyId: record.id,
      scopes: new Set(['encode']),
      redeems: true,
      references: false,
      teams: null,
      member: null,
      project: null,
      maxConcurrent: 4,
      rate: null,
    })
    const wrong = [
      '',
      ' ',
      key.slice(1),
      key.slice(0, -1),
      `${key}x`,
      `${key} `,
      key.toUpperCase(),
      key.replace('hvs_', ''),
      record.sha256,
      record.id,
      'x'.repeat(100_000),
      makeKey().key,
      ...Array.from(
        key,
        (char, at) => key.slice(0, at) + (char === 'x' ? 'y' : 'x') + key.slice(at + 1),
      ),
    ]
    for (const other of wrong) {
      expect(() => access.identify(() => other)).toThrow(problem('unauthorized'))
    }
    expect(() => access.identify(() => undefined)).toThrow(problem('unauthorized'))
  })

  it('is not quoted where it is wrong', () => {
    const access = accessTo(keyFor('acme'))
    const { key } = makeKey()
    try {
      access.identify(() => key)
    } catch (error) {
      expect((error as AppError).message + (error as AppError).detail).not.toContain(
        key.slice(4, 12),
      )
    }
  })

  it('is found among others whose hashes begin alike, wherever it stands', () => {
    const own = keyFor('own')
    const start = own.record.sha256.slice(0, 8)
    const twins = Array.from({ length: 5 }, (_, i) =>
      keyFor(`twin${i}`, { sha256: start + hash('sha256', `${i}`).slice(8) }),
    )
    for (const at of [0, 3, 5]) {
      const access = accessTo(...twins.slice(0, at), own, ...twins.slice(at))
      expect(access.identify(() => own.key).tenant).toBe('own')
      // The twins' own keys, which are not known, are nobody's.
      for (const { key } of twins) {
        expect(() => access.identify(() => key)).toThrow(problem('unauthorized'))
      }
    }
  })

  it('has 256 random bits, and is not in its record', () => {
    const made = Array.from({ length: 100 }, makeKey)
    expect(new Set(made.map(({ key }) => key)).size).toBe(100)
    expect(new Set(made.map(({ id }) => id)).size).toBe(100)
    for (const { key, sha256 } of made) {
      expect(Buffer.from(key.slice(4), 'base64url')).toHaveLength(32)
      expect(sha256).toBe(hash('sha256', key))
    }
  })

  it.each(SCOPES)('with the scope %s may do that and nothing else', own => {
    const { key, record } = keyFor('acme', { scopes: [own] })
    const access = accessTo({ record })
    const caller = access.identify(() => key)
    expect(() => access.allow(caller, 'any')).not.toThrow()
    for (const scope of SCOPES) {
      const attempt = () => access.allow(caller, scope)
      if (scope === own) expect(attempt).not.toThrow()
      else expect(attempt).toThrow(problem('forbidden'))
    }
  })
})

describe('without configured keys', () => {
  it('everybody is the tenant local and may do everything', () => {
    const access = createAccess(null, still)
    for (const key of [undefined, '', 'hvs_x']) expect(access.identify(() => key)).toBe(LOCAL)
    for (const scope of SCOPES) expect(() => access.allow(LOCAL, scope)).not.toThrow()
    access.replace([keyFor('acme').record])
    expect(access.identify(() => undefined)).toBe(LOCAL)
    expect(access.tenants).toBe(1)
  })

  it('but with an empty file, nobody', () => {
    const access = accessTo()
    expect(() => access.identify(() => keyFor('acme').key)).toThrow(problem('unauthorized'))
    expect(() => access.identify(() => undefined)).toThrow(problem('unauthorized'))
    expect(access.tenants).toBe(1)
  })
})

describe('a rate', () => {
  it('lets a burst pass, refuses with the time to wait, and lets pass after it', () => {
    let now = 0
    const { key, record } = keyFor('acme', { rate_per_s: 2, burst: 3 })
    const access = createAccess([record], () => now)
    expect(passing(access, key)).toBe(3)
    const attempt = () =>
      access.allow(
        access.identify(() => key),
        'encode',
      )
    expect(attempt).toThrow(expect.objectContaining({ extras: { retry_after_s: 1 } }))
    now = 500
    expect(passing(access, key)).toBe(1)
    now = 100_000
    expect(passing(access, key)).toBe(3)
  })

  it('tells whole seconds that are enough', () => {
    let now = 0
    const { key, record } = keyFor('acme', { rate_per_s: 0.3 })
    const access = createAccess([record], () => now)
    expect(passing(access, key)).toBe(1)
    try {
      access.allow(
        access.identify(() => key),
        'encode',
      )
    } catch (error) {
      now += ((error as AppError).extras.retry_after_s as number) * 1000
    }
    expect(now).toBe(4_000)
    expect(passing(access, key)).toBe(1)
  })

  it('without a burst is as large as a second', () => {
    for (const [rate, burst] of [
      [0.1, 1],
      [1, 1],
      [2.5, 3],
      [7, 7],
    ] as const) {
      const { key, record } = keyFor('acme', { rate_per_s: rate })
      expect(passing(accessTo({ record }), key)).toBe(burst)
    }
  })

  it('is each key’s own', () => {
    const one = keyFor('acme', { rate_per_s: 1, burst: 2 })
    const other = keyFor('acme', { rate_per_s: 1, burst: 5 })
    const access = accessTo(one, other, keyFor('acme'))
    expect(passing(access, one.key)).toBe(2)
    expect(passing(access, other.key)).toBe(5)
  })

  it('is used up by what is forbidden too', () => {
    const { key, record } = keyFor('acme', { rate_per_s: 1, burst: 2, scopes: ['metrics'] })
    const access = accessTo({ record })
    const attempt = () =>
      access.allow(
        access.identify(() => key),
        'encode',
      )
    expect(attempt).toThrow(problem('forbidden'))
    expect(attempt).toThrow(problem('forbidden'))
    expect(attempt).toThrow(problem('rate_limited'))
  })
})

describe('other keys in force', () => {
  const one = keyFor('acme', { rate_per_s: 1, burst: 5 })
  const two = keyFor('beta')

  it('end a revoked key at once, and begin a new one', () => {
    const access = accessTo(one)
    expect(access.tenants).toBe(1)
    access.replace([two.record])
    expect(() => access.identify(() => one.key)).toThrow(problem('unauthorized'))
    expect(access.identify(() => two.key).tenant).toBe('beta')
    access.replace([one.record, two.record])
    expect([access.identify(() => one.key).tenant, access.tenants]).toEqual(['acme', 2])
    access.replace([])
    expect(() => access.identify(() => two.key)).toThrow(problem('unauthorized'))
  })

  it('keep what was used of a rate, whatever else changes', () => {
    const access = accessTo(one)
    access.allow(
      access.identify(() => one.key),
      'encode',
    )
    access.replace([two.record, { ...one.record, note: 'x', scopes: ['encode', 'admin'] }])
    expect(access.identify(() => one.key).scopes).toContain('admin')
    expect(passing(access, one.key)).toBe(4)
    access.replace([one.record])
    expect(passing(access, one.key)).toBe(0)
  })

  it.each([
    ['rate_per_s', { rate_per_s: 2 }, 5],
    ['burst', { burst: 9 }, 9],
    ['both away', { rate_per_s: undefined, burst: undefined }, 20],
  ])('begin a rate anew that is another one: %s', (_, change, passes) => {
    const access = accessTo(one)
    expect(passing(access, one.key)).toBe(5)
    const changed = { ...one.record, ...change }
    access.replace([changed as KeyRecord])
    expect(passing(access, one.key)).toBe(passes)
  })

  it('limit a key from then on that had no limit', () => {
    const { rate_per_s: _, burst: __, ...free } = one.record
    const access = accessTo({ record: free as KeyRecord })
    expect(passing(access, one.key)).toBe(20)
    access.replace([one.record])
    expect(passing(access, one.key)).toBe(5)
  })
})
