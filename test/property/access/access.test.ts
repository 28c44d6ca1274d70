import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRateLimit } from '../../../src/access/limits.ts'
import { runs } from '../../support/runs.ts'

const rate = fc.integer({ min: 1, max: 2_000 })
const burst = fc.integer({ min: 1, max: 50 })

/** What fractions that are not exact may add up to. */
const HAIR = 1e-6

describe('a rate limit', () => {
  it('does what a bucket of tokens does, and nothing for a clock that goes backwards', () => {
    const times = fc.array(fc.integer({ min: -50, max: 3_000 }), { maxLength: 200, size: 'max' })
    fc.assert(
      fc.property(rate, burst, times, (perSecond, size, gaps) => {
        const limit = createRateLimit(perSecond, size, 0)
        let now = 0
        // In thousandths of a token, which are whole numbers.
        let tokens = size * 1000
        for (const gap of gaps) {
          now += gap
          tokens = Math.min(size * 1000, tokens + Math.max(0, gap) * perSecond)
          const waitMs = limit.take(now)
          if (waitMs === 0) {
            expect(tokens).toBeGreaterThanOrEqual(1000)
            tokens -= 1000
          } else {
            // At 1000 the last bit of a fraction decides.
            expect(tokens).toBeLessThanOrEqual(1000)
            expect(waitMs).toBeCloseTo((1000 - tokens) / perSecond, 6)
          }
        }
      }),
      { numRuns: runs(300) },
    )
  })

  it('lets no more pass in any time than the burst and the rate', () => {
    const times = fc.array(fc.nat(200), { minLength: 1, maxLength: 100, size: 'max' })
    fc.assert(
      fc.property(rate, burst, times, (perSecond, size, gaps) => {
        const limit = createRateLimit(perSecond, size, 0)
        let now = 0
        const passed: number[] = []
        for (const gap of gaps) {
          now += gap
          if (limit.take(now) === 0) passed.push(now)
        }
        passed.forEach((from, first) => {
          passed.slice(first).forEach((to, index) => {
            expect(index + 1).toBeLessThanOrEqual(size + ((to - from) * perSecond) / 1000 + HAIR)
          })
        })
      }),
      { numRuns: runs(100) },
    )
  })

  it('lets pass who waits as long as told, in whole seconds', () => {
    const perSecond = fc.double({ min: 0.001, max: 1e6, noNaN: true })
    fc.assert(
      fc.property(perSecond, burst, fc.nat(1e6), (each, size, start) => {
        const limit = createRateLimit(each, size, start)
        let now = start
        for (let i = 0; i < size; i++) expect(limit.take(now)).toBe(0)
        for (let i = 0; i < 5; i++) {
          const waitMs = limit.take(now)
          expect(waitMs).toBeGreaterThan(0)
          now += Math.ceil(waitMs / 1000) * 1000
          for (let free = 0; limit.take(now) === 0; free++) expect(free).toBeLessThan(size)
        }
      }),
      { numRuns: runs(200) },
    )
  })
})
