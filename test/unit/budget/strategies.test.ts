import { describe, expect, it } from 'vitest'
import { STRATEGIES, STRATEGY_IDS } from '../../../src/core/budget/strategies.ts'

const factors = (id: (typeof STRATEGY_IDS)[number], count: number) =>
  Array.from({ length: count }, (_, index) => STRATEGIES[id].factor(index, count))

describe.each(STRATEGY_IDS)('strategy %s', id => {
  it.each([1, 2, 3, 10, 1_000_000])('gives every part of %d a factor above 0, at most 1', count => {
    const at = [0, 1, Math.floor(count / 2), count - 1].filter(index => index < count)
    for (const index of at) {
      const factor = STRATEGIES[id].factor(index, count)
      expect(factor).toBeGreaterThan(0)
      expect(factor).toBeLessThanOrEqual(1)
    }
  })

  it('tells every part from every other, so that equal ones are never chosen by chance', () => {
    expect(new Set(factors(id, 100)).size).toBe(100)
  })
})

describe('what position counts', () => {
  const falls = (values: readonly number[]) => values.every((v, i) => i === 0 || v < values[i - 1]!)

  it('falls from the beginning, little or clearly, or rises to the end', () => {
    expect(falls(factors('equal', 50))).toBe(true)
    expect(falls(factors('leading', 50))).toBe(true)
    expect(falls(factors('trailing', 50).reverse())).toBe(true)
    expect(factors('equal', 50).at(-1)!).toBeGreaterThan(0.9)
    expect(factors('leading', 50).at(-1)!).toBeLessThan(0.35)
  })

  it('is least in the middle where both ends matter', () => {
    const all = factors('head_tail', 51)
    expect(all.indexOf(Math.min(...all))).toBeGreaterThan(23)
    expect(all.indexOf(Math.min(...all))).toBeLessThan(27)
    expect(all[0]).toBeGreaterThan(all[50]!)
    expect(all[50]).toBeGreaterThan(all[5]!)
  })
})
