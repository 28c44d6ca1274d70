import { describe, expect, it } from 'vitest'
import {
  type DropReason,
  type KeptResult,
  ResultCache,
  type ScopedCall,
  scopedKey,
} from '../../../src/ahead/result-cache.ts'

const MIB = 1_024 * 1_024
const SCOPE = { tenant: 't', upstream: 'u', credential: 'c', connection: null }
const CALL: ScopedCall = { scope: SCOPE, tool: 'get', args: '{}' }

function setUp(maxBytes?: number) {
  const clock = { now: 0 }
  const dropped: [string, DropReason][] = []
  const cache = new ResultCache<string>({
    now: () => clock.now,
    ...(maxBytes === undefined ? {} : { maxBytes }),
    onDrop: ({ result }, reason) => dropped.push([result, reason]),
  })
  const kept = (result: string, more: Partial<KeptResult<string>> = {}): KeptResult<string> => ({
    ...{ call: CALL, context: 'x', client: 'k', result, bytes: 10, fetchMs: 5, expiresAt: 100 },
    ...more,
  })
  return { clock, dropped, cache, kept }
}

// Contract, section 8, "Cache".
describe('the key of a result', () => {
  it('has all that a result depends on', () => {
    const calls: ScopedCall[] = [
      CALL,
      { ...CALL, scope: { ...SCOPE, tenant: 'other' } },
      { ...CALL, scope: { ...SCOPE, upstream: 'other' } },
      { ...CALL, scope: { ...SCOPE, credential: 'other' } },
      { ...CALL, scope: { ...SCOPE, connection: 'null' } },
      { ...CALL, tool: 'other' },
      { ...CALL, args: '{"id":1}' },
      { ...CALL, args: '{"id":1.0}' },
    ]
    expect(new Set(calls.map(scopedKey)).size).toBe(calls.length)
  })
})

describe('kept results', () => {
  it('a kept result is served once', () => {
    const { cache, kept, dropped } = setUp()
    expect(cache.put('a', kept('1'))).toBe(true)
    expect(cache.has('a')).toBe(true)
    expect(cache.take('a')?.result).toBe('1')
    expect(cache.take('a')).toBeUndefined()
    expect([cache.has('a'), cache.bytes, dropped]).toEqual([false, 0, []])
  })

  it('are not served when they are too old', () => {
    const { cache, kept, clock, dropped } = setUp()
    cache.put('a', kept('1'))
    clock.now = 99
    expect(cache.has('a')).toBe(true)
    clock.now = 100
    expect(cache.has('a')).toBe(false)
    expect(cache.take('a')).toBeUndefined()
    expect([cache.bytes, dropped]).toEqual([0, [['1', 'expired']]])
    expect(cache.put('a', kept('2'))).toBe(false)
  })

  it('are replaced by later ones', () => {
    const { cache, kept, dropped } = setUp()
    cache.put('a', kept('1'))
    cache.put('a', kept('2'))
    expect(dropped).toEqual([['1', 'replaced']])
    expect(cache.take('a')?.result).toBe('2')
    expect(cache.bytes).toBe(0)
  })

  it('have at most 1 MiB each', () => {
    const { cache, kept } = setUp()
    expect(cache.put('a', kept('1', { bytes: MIB + 1 }))).toBe(false)
    expect(cache.put('a', kept('1', { bytes: MIB }))).toBe(true)
  })

  it('have 64 MiB together; the old ones go first, those that are too old before them', () => {
    const { cache, kept, clock, dropped } = setUp()
    for (let i = 0; i < 62; i++) cache.put(`k${i}`, kept(`${i}`, { bytes: MIB, expiresAt: 200 }))
    cache.put('short', kept('short', { bytes: MIB, expiresAt: 50 }))
    clock.now = 60
    cache.put('next', kept('next', { bytes: MIB, expiresAt: 200 }))
    expect(dropped).toEqual([['short', 'expired']])
    cache.put('more', kept('more', { bytes: MIB, expiresAt: 200 }))
    expect(dropped.slice(1)).toEqual([['0', 'evicted']])
    expect(cache.bytes).toBeLessThanOrEqual(64 * MIB)
  })

  it('are a bounded number, however small', () => {
    const { cache, kept, dropped } = setUp()
    for (let i = 0; i < 4_097; i++) cache.put(`k${i}`, kept(`${i}`, { bytes: 0 }))
    expect(dropped).toEqual([['0', 'evicted']])
  })

  it('are dropped by what they are of', () => {
    const { cache, kept, dropped } = setUp()
    cache.put('a', kept('1'))
    cache.put('b', kept('2', { context: 'y' }))
    cache.drop(({ context }) => context === 'y', 'aborted')
    expect(dropped).toEqual([['2', 'aborted']])
    expect([cache.has('a'), cache.has('b')]).toEqual([true, false])
  })
})
