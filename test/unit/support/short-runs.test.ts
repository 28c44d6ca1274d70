import { describe, expect, it } from 'vitest'
import { FULL_RUNS, SEED } from '../../support/runs.ts'
import { fewRuns, someOf } from '../../support/short-runs.ts'

it('the number of runs that take long is bounded, but in a full run', () => {
  expect(fewRuns(1_000, 3)).toBe(FULL_RUNS ? 1_000 : 3)
})

describe('cases of a short run', () => {
  const all = [0, 1, 2, 3, 4, 5, 6]

  it.each([1, 2, 3, 6])('are %d distinct ones of all', count => {
    const some = someOf(all, count)
    expect(new Set(some).size).toBe(FULL_RUNS ? all.length : count)
    expect(all).toEqual(expect.arrayContaining([...some]))
    if (!FULL_RUNS) expect(some[0]).toBe(all[SEED % all.length])
  })

  it('are all if there are no more', () => {
    expect(someOf(all, 7)).toEqual(all)
    expect(someOf(all, 9)).toEqual(all)
  })
})
