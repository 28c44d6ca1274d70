import { describe, expect, it } from 'vitest'
import {
  BOUNDS,
  bucketOf,
  HISTOGRAM_NAMES,
  joinBuckets,
  PARTS,
  quantileOf,
  toParts,
} from '../../../../src/core/fingerprints/histograms.ts'

describe('histograms', () => {
  it('have a bucket for every value, up to its bound', () => {
    for (const name of HISTOGRAM_NAMES) {
      for (const [bucket, bound] of BOUNDS[name].entries()) {
        expect(bucketOf(name, bound)).toBe(bucket)
        expect(bucketOf(name, bound + 1)).toBe(Math.min(bucket + 1, BOUNDS[name].length - 1))
      }
      expect(bucketOf(name, 0)).toBe(0)
      expect(bucketOf(name, 1e12)).toBe(BOUNDS[name].length - 1)
    }
    expect([100, 500].map(value => bucketOf('response_chars', value))).toEqual([2, 6])
  })

  it('are whole parts that add up, whatever the weights are', () => {
    for (const weights of [[1, 1, 1], [3, 0, 0], [0.1, 1e9], Array(30).fill(1 / 7), [1e-9]]) {
      const parts = toParts(weights)!
      expect(parts.reduce((sum, part) => sum + part, 0)).toBe(PARTS)
      expect(parts.every(part => Number.isInteger(part) && part >= 0)).toBe(true)
    }
    for (const none of [[], [0, 0]]) expect(toParts(none)).toBeNull()
  })

  it('give quantiles by the upper bound of a bucket, and of the last one the bound below', () => {
    const bursts = (parts: Readonly<Record<number, number>>) =>
      BOUNDS.repeat_burst.map((_, bucket) => parts[bucket] ?? 0)
    const of = (parts: Readonly<Record<number, number>>) =>
      [0.25, 0.9, 0.95].map(share => quantileOf('repeat_burst', bursts(parts), share))
    expect(of({ 0: 8_999, 5: 1_001 })).toEqual([0, 6, 6])
    expect(of({ 0: 9_000, 5: 1_000 })).toEqual([0, 0, 6])
    expect(of({ 12: PARTS })).toEqual([64, 64, 64])
    expect(quantileOf('repeat_burst', undefined, 0.9)).toBeNull()
  })
})

describe('a bucket with too few sessions', () => {
  it('joins the next smaller one with enough, or else the smallest', () => {
    const has = (kept: readonly number[]) => (bucket: number) => kept.includes(bucket)
    const weights = [1, 2, 4, 8, 16]
    expect(joinBuckets(weights, has([1, 3]))).toEqual(Float64Array.of(0, 7, 0, 24, 0))
    expect(joinBuckets(weights, has([0, 1, 2, 3, 4]))).toEqual(Float64Array.from(weights))
    for (const kept of [[], [2]]) expect(joinBuckets(weights, has(kept))).toBeNull()
  })
})
