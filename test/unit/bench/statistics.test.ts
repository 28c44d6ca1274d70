import { describe, expect, it } from 'vitest'
import { mean, percentile, summarizeTimes } from '../../../bench/support/statistics.ts'
import { median } from '../../../src/lab/bill/statistics.ts'

const upTo = (count: number) => Array.from({ length: count }, (_, n) => count - n)

describe('percentile', () => {
  it.each([
    [100, 0.99, 99],
    [101, 0.99, 100],
    [100, 0.5, 50],
    [101, 0.5, 51],
    [4, 0.99, 4],
    [1, 0.5, 1],
    [10, 1, 10],
    [10, 0, 1],
    [0, 0.5, 0],
  ])('of 1 to %i, the share %f does not exceed %i', (count, share, expected) => {
    expect(percentile(upTo(count), share)).toBe(expected)
  })
})

it('sums up times in milliseconds', () => {
  expect(summarizeTimes(upTo(200))).toEqual({ count: 200, p50_ms: 100, p99_ms: 198, max_ms: 200 })
})

it('the median of an even number lies between the middle two', () => {
  expect(median([4, 1, 3, 2])).toBe(2.5)
  expect(median([5, 1, 3])).toBe(3)
  expect(median([])).toBe(0)
  expect(mean([1, 2, 6])).toBe(3)
  expect(mean([])).toBe(0)
})
