import { describe, expect, it } from 'vitest'
import { runs } from '../../support/runs.ts'

describe('the number of random runs', () => {
  it.each([0.5, 1, 7.5, 12.5, 150 / 7, 999.9])('is whole, and not 0, for %d', full => {
    expect(runs(full)).toBeGreaterThan(0)
    expect(Number.isInteger(runs(full))).toBe(true)
  })

  it.each([1, 7, 10])('is not made smaller for %d, which is few', full => {
    expect(runs(full)).toBeGreaterThanOrEqual(full)
  })
})
