import { globSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { AREAS } from '../../../scripts/mutate/areas.ts'
import { inSample } from '../../../scripts/mutate/sample.ts'
import { scoreOf } from '../../../scripts/mutate/score.ts'

const ROOT = new URL('../../..', import.meta.url)

describe.each(Object.entries(AREAS))('the area %s', (_, { code, tests, percent }) => {
  it.each([...code, ...tests])('has files for %s', glob => {
    expect(globSync(glob, { cwd: ROOT }).length).toBeGreaterThan(0)
  })

  it('an area of mutation has a sample', () => {
    expect(percent).toBeGreaterThan(0)
    expect(percent).toBeLessThanOrEqual(100)
  })
})

describe('a sample', () => {
  const ids = Array.from({ length: 2_000 }, (_, id) => String(id))
  const take = (seed: string, percent: number) => ids.filter(id => inSample({ seed, percent }, id))

  it('has about the share that was asked for, the same each time', () => {
    for (const percent of [1, 10, 50]) {
      const taken = take('18', percent)
      expect(Math.abs(taken.length - percent * 20)).toBeLessThan(100)
      expect(take('18', percent)).toEqual(taken)
    }
    expect(take('18', 100)).toEqual(ids)
    expect(take('18', 0)).toEqual([])
  })

  it('is another one for another seed, and grows with its share', () => {
    expect(take('19', 10)).not.toEqual(take('18', 10))
    const larger = new Set(take('18', 20))
    expect(take('18', 10).every(id => larger.has(id))).toBe(true)
  })
})

it('a score has the interval of Wilson', () => {
  // Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of 20.
  for (const [noticed, tried, low, high] of [
    [81, 263, 25.53, 36.62],
    [15, 148, 6.24, 16.05],
    [0, 20, 0, 16.11],
  ] as const) {
    const score = scoreOf(noticed, tried)
    expect(score.percent).toBeCloseTo((100 * noticed) / tried)
    expect(score.low).toBeCloseTo(low, 1)
    expect(score.high).toBeCloseTo(high, 1)
  }
})
