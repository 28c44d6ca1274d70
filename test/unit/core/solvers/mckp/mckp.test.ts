import { describe, expect, it } from 'vitest'
import { solveMckp } from '../../../../../src/core/solvers/mckp/mckp.ts'
import { KINDS, type Kind, makeInstance } from '../../../../support/knapsack/instances.ts'
import { FULL_RUNS } from '../../../../support/runs.ts'
import { someOf } from '../../../../support/short-runs.ts'
import { type ClassOf, faultsOf, problemOf, solved, tableOf } from './oracles.ts'

const HUGE = Number.MAX_SAFE_INTEGER
const kinds = Object.keys(KINDS) as Kind[]
/** Options or classes of a large problem; a short run shows the same with fewer. */
const MANY = FULL_RUNS ? 100_000 : 4_000

describe('a solution', () => {
  it.each<[string, ClassOf[], number, { picks: number[]; cost: number; value: number }]>([
    ['of no classes', [], 7, { picks: [], cost: 0, value: 0 }],
    [
      'of empty classes',
      [{ options: [] }, { options: [] }],
      7,
      { picks: [-1, -1], cost: 0, value: 0 },
    ],
    [
      'with a budget of nothing takes what is free',
      [{ options: [[1, 9]] }, { options: [[0, 3]] }, { options: [[0, 0]] }],
      0,
      { picks: [-1, 0, -1], cost: 0, value: 3 },
    ],
    [
      'takes the first of equal options',
      [
        {
          options: [
            [2, 5],
            [1, 5],
            [1, 5],
          ],
        },
      ],
      9,
      { picks: [1], cost: 1, value: 5 },
    ],
    [
      'takes a required option that is worth nothing',
      [{ required: true, options: [[3, 0]] }],
      3,
      { picks: [0], cost: 3, value: 0 },
    ],
    [
      'is not the greedy one',
      [{ options: [[6, 7]] }, { options: [[5, 5]] }, { options: [[5, 5]] }],
      10,
      { picks: [-1, 0, 0], cost: 10, value: 10 },
    ],
    [
      'takes an option that the relaxation does not see',
      [
        {
          options: [
            [1, 1],
            [2, 11],
            [4, 20],
            [3, 14],
          ],
        },
        { options: [[5, 9]] },
      ],
      3,
      { picks: [3, -1], cost: 3, value: 14 },
    ],
    [
      'adds costs up to 2^53 − 1 exactly',
      [{ options: [[HUGE - 1, 5]] }, { options: [[1, 1]] }, { options: [[2, 1]] }],
      HUGE,
      { picks: [0, 0, -1], cost: HUGE, value: 6 },
    ],
    [
      'leaves what is dearer than any budget',
      Array.from({ length: 5 }, () => ({ options: [[HUGE, 1]] as const })),
      HUGE - 1,
      { picks: [-1, -1, -1, -1, -1], cost: 0, value: 0 },
    ],
    [
      'has the largest value even where values are as small as can be',
      [{ options: [[1, 5e-324]] }, { options: [[1, 1e-323]] }],
      1,
      { picks: [-1, 0], cost: 1, value: 1e-323 },
    ],
    [
      'has the largest value even where values are as large as can be',
      [{ options: [[1, 2 ** 1023]] }, { options: [[1, 2 ** 1022]] }],
      1,
      { picks: [0, -1], cost: 1, value: 2 ** 1023 },
    ],
  ])('%s', (_, classes, budget, expected) => {
    const solution = solved(problemOf(classes, budget))
    expect({ ...solution, picks: [...solution.picks] }).toMatchObject({
      ...expected,
      optimal: true,
    })
    expect(solution.upperBound).toBe(expected.value)
  })

  it(`of one class with ${MANY} options`, () => {
    const options = Array.from({ length: MANY }, (_, j) => [j, Math.sqrt(j)] as const)
    const solution = solved(problemOf([{ options }], 0.7 * MANY))
    expect([solution.optimal, [...solution.picks]]).toEqual([true, [0.7 * MANY]])
  })

  it(`of ${MANY} classes with one option`, () => {
    const classes = Array.from({ length: MANY }, (_, i) => ({
      options: [[7, 1 + (i % 3)]] as const,
    }))
    const chosen = MANY / 2
    const dearest = Math.floor(MANY / 3)
    const solution = solved(problemOf(classes, 7 * chosen + 6))
    const value = 3 * dearest + 2 * (chosen - dearest)
    expect(solution).toMatchObject({ optimal: true, cost: 7 * chosen, value })
  })

  it('of as many equal options as fit does not take long to prove', () => {
    const classes = Array.from({ length: 1_000 }, () => ({
      options: [
        [1e15, 1],
        [2e15, 2],
      ] as const,
    }))
    expect(solved(problemOf(classes, 9e15))).toMatchObject({ optimal: true, value: 9 })
  })
})

describe('required classes that do not fit', () => {
  it.each<[string, ClassOf[], number, number | null]>([
    [
      'one',
      [
        {
          required: true,
          options: [
            [5, 1],
            [4, 1],
          ],
        },
      ],
      3,
      4,
    ],
    [
      'the second',
      [
        { required: true, options: [[5, 1]] },
        { options: [[1, 1]] },
        {
          required: true,
          options: [
            [7, 9],
            [6, 1],
          ],
        },
      ],
      10,
      11,
    ],
    ['without options', [{ required: true, options: [] }], 3, null],
    ['of 2^53 and more', Array(3).fill({ required: true, options: [[HUGE, 1]] }), HUGE, null],
    [
      'of a sum that a double would round',
      Array(3).fill({ required: true, options: [[3e15 + 1, 1]] }),
      5,
      9e15 + 3,
    ],
  ])('%s', (_, classes, budget, minimumCost) => {
    const solution = solveMckp(problemOf(classes, budget), { maxStates: 1e6 })
    expect(solution).toEqual({ feasible: false, minimumCost })
  })
})

describe('numbers that are none of ours', () => {
  it.each([[NaN], [-1], [0.5], [Infinity], [2 ** 53]])('cost and budget %s', bad => {
    expect(() => solved(problemOf([{ options: [[bad, 1]] }], 5))).toThrow(RangeError)
    expect(() => solved(problemOf([{ options: [[1, 1]] }], bad))).toThrow(RangeError)
  })

  it.each([[NaN], [-1], [-Infinity], [Infinity]])('value %s', bad => {
    expect(() => solved(problemOf([{ options: [[1, bad]] }], 5))).toThrow(RangeError)
  })

  it('a sum of values that is not finite', () => {
    const classes = Array(2).fill({ options: [[1, 1.7e308]] })
    expect(() => solved(problemOf(classes, 5))).toThrow(RangeError)
  })

  it('arrays that do not belong together', () => {
    const problem = problemOf([{ options: [[1, 1]] }], 5)
    expect(() => solved({ ...problem, required: new Uint8Array(2) })).toThrow(RangeError)
  })
})

describe.each(someOf(kinds, 2))('%s instances', kind => {
  it('knapsacks of a kind are solved exactly', () => {
    for (const required of [true, false]) {
      for (let seed = 0; seed < (FULL_RUNS ? 8 : 3); seed++) {
        const problem = makeInstance(kind, { classes: 25, options: 5, range: 100, required }, seed)
        const solution = solved(problem)
        expect(faultsOf(problem, solution)).toEqual([])
        expect([solution.value, solution.optimal]).toEqual([tableOf(problem), true])
      }
    }
  })

  it('with many states are paired, compacted and still proven', () => {
    const problem = makeInstance(kind, { classes: 300, options: 6, range: 1e6, required: true }, 3)
    const solution = solved(problem, 2e7)
    expect(faultsOf(problem, solution)).toEqual([])
    expect(solution.optimal).toBe(true)
  })

  it('stopped early have a bound that holds', () => {
    const problem = makeInstance(
      kind,
      { classes: 200, options: 6, range: 10_000, required: true },
      1,
    )
    const exact = solved(problem)
    expect(exact.optimal).toBe(true)
    let stopped = 0
    for (const maxStates of [0, 10, 100, 1_000, 10_000, 30_000]) {
      const solution = solved(problem, maxStates)
      expect(faultsOf(problem, solution)).toEqual([])
      expect(solution.states).toBeLessThanOrEqual(maxStates)
      expect(solution.value).toBeLessThanOrEqual(exact.value)
      expect(solution.upperBound).toBeGreaterThanOrEqual(exact.value)
      if (!solution.optimal) stopped++
    }
    expect(stopped > 0 || exact.states === 0).toBe(true)
  })
})

describe('more states than fit', () => {
  it('are paired until they do', () => {
    const classes = FULL_RUNS ? 1_000 : 300
    const size = { classes, options: 6, range: 1e9, required: true }
    const problem = makeInstance('subset sum', size, 1)
    const solution = solved(problem, 5e7)
    expect(faultsOf(problem, solution)).toEqual([])
    expect(solution.optimal).toBe(true)
    expect(solution.states).toBeGreaterThan(2 ** 21)
  })
})

describe('the work', () => {
  const hard = makeInstance(
    'weakly correlated',
    { classes: 1_000, options: 6, range: 1e9, required: false },
    5,
  )

  it('ends where the caller says so, with a bound', () => {
    let asked = 0
    const solution = solveMckp(hard, { maxStates: 1e9, shouldStop: () => ++asked > 20 })
    if (!solution.feasible) throw new Error('infeasible')
    expect(solution.optimal).toBe(false)
    expect(asked).toBe(21)
    expect(faultsOf(hard, solution)).toEqual([])
    expect(solution.upperBound).toBeGreaterThan(solution.value)
  })

  it('of the same problem gives the same picks', () => {
    const [one, two] = [solved(hard, 100_000), solved(structuredClone(hard), 100_000)]
    expect(two).toEqual(one)
    expect(one.optimal).toBe(false)
  })

  it('done further makes the gap smaller', () => {
    const gaps = [1_000, 30_000, 300_000].map(maxStates => {
      const { upperBound, value } = solved(hard, maxStates)
      return upperBound - value
    })
    expect(gaps[1]).toBeLessThan(gaps[0]!)
    expect(gaps[2]).toBeLessThan(gaps[1]!)
  })
})
