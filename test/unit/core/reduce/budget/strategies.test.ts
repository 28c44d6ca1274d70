import { describe, expect, it } from 'vitest'
import { STRATEGIES, STRATEGY_IDS } from '../../../../../src/core/reduce/budget/strategies.ts'

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

  it('leaves 30 % of the beginning and 70 % of the end, whatever share is kept', () => {
    const all = factors('head_tail', 1000)
    for (const kept of [10, 100, 500, 900]) {
      const least = all.toSorted((a, b) => b - a)[kept - 1]!
      const head = all.slice(0, 300).filter(factor => factor >= least).length
      expect(Math.abs(head / kept - 0.3)).toBeLessThan(0.03)
    }
  })
})
