import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { solveMckp } from '../../../../../src/core/solvers/mckp/mckp.ts'
import { runs } from '../../../../support/runs.ts'
import {
  bruteForce,
  type ClassOf,
  faultsOf,
  problemOf,
  solved,
  tableOf,
} from '../../../../unit/core/solvers/mckp/oracles.ts'

/** Costs and values from few numbers, so that ties, zeros and correlated options are common. */
const option = fc.oneof(
  fc.tuple(fc.nat(12), fc.nat(12)),
  fc.nat(40).map(cost => [cost, cost] as const),
  fc.nat(40).map(cost => [cost, cost + 10] as const),
  fc.tuple(fc.nat(60), fc.nat(999)),
)
const classOf = (largest: number) =>
  fc.record({ required: fc.boolean(), options: fc.array(option, { maxLength: largest }) })
const few = fc.array(classOf(4), { maxLength: 5 })
const many = fc.array(classOf(7), { maxLength: 14 })
const budget = fc.nat(250)

function bestOf(classes: readonly ClassOf[], budget: number): number | null {
  const problem = problemOf(classes, budget)
  const solution = solveMckp(problem, { maxStates: 1e8 })
  if (!solution.feasible) return null
  expect(faultsOf(problem, solution)).toEqual([])
  expect(solution.optimal).toBe(true)
  return solution.value
}

describe('the knapsack solver', () => {
  it('is as good as trying everything', () => {
    fc.assert(
      fc.property(few, budget, (classes, budget) => {
        expect(bestOf(classes, budget)).toBe(bruteForce(classes, budget))
      }),
      { numRuns: runs(2_000) },
    )
  })

  it('is as good as a table over all budgets', () => {
    fc.assert(
      fc.property(many, budget, (classes, budget) => {
        expect(bestOf(classes, budget)).toBe(tableOf(problemOf(classes, budget)))
      }),
      { numRuns: runs(2_000) },
    )
  })

  it('is as good as that with values that cannot be added exactly, up to rounding', () => {
    const scaled = fc.tuple(many, fc.constantFrom(0.1, 1 / 3, Math.PI * 1e-9, 1.1e300))
    fc.assert(
      fc.property(scaled, budget, ([classes, scale], budget) => {
        const problem = problemOf(classes, budget)
        const values = problem.values.map(value => value * scale)
        const solution = solveMckp({ ...problem, values }, { maxStates: 1e8 })
        if (!solution.feasible) return
        expect(faultsOf({ ...problem, values }, solution)).toEqual([])
        const best = tableOf({ ...problem, values })!
        expect(solution.optimal).toBe(true)
        expect(solution.value).toBeGreaterThanOrEqual(best * (1 - 1e-12))
        expect(solution.upperBound).toBeGreaterThanOrEqual(best * (1 - 1e-15))
      }),
      { numRuns: runs(500) },
    )
  })

  it('has a bound that holds wherever it is stopped', () => {
    fc.assert(
      fc.property(many, budget, fc.nat(150), (classes, budget, maxStates) => {
        const problem = problemOf(classes, budget)
        const solution = solveMckp(problem, { maxStates })
        const best = tableOf(problem)
        expect(solution.feasible).toBe(best !== null)
        if (!solution.feasible || best === null) return
        expect(faultsOf(problem, solution)).toEqual([])
        expect(solution.value).toBeLessThanOrEqual(best)
        expect(solution.upperBound).toBeGreaterThanOrEqual(best)
        if (solution.optimal) expect(solution.value).toBe(best)
      }),
      { numRuns: runs(2_000) },
    )
  })

  it('gives no less for a larger budget', () => {
    fc.assert(
      fc.property(many, budget, fc.nat(20), (classes, budget, more) => {
        expect(bestOf(classes, budget + more) ?? -1).toBeGreaterThanOrEqual(
          bestOf(classes, budget) ?? -1,
        )
      }),
    )
  })

  it('gives the same value for any order of the classes, and the same picks for the same order', () => {
    const shuffled = many.chain(classes =>
      fc.tuple(fc.constant(classes), fc.shuffledSubarray(classes, { minLength: classes.length })),
    )
    fc.assert(
      fc.property(shuffled, budget, ([classes, other], budget) => {
        expect(bestOf(other, budget)).toBe(bestOf(classes, budget))
        const again = () => solveMckp(problemOf(classes, budget), { maxStates: 1e8 })
        expect(again()).toEqual(again())
      }),
    )
  })

  it('is exact where costs are as large as they can be', () => {
    const scale = 2 ** 44 - 1
    fc.assert(
      fc.property(few, fc.nat(500), (classes, budget) => {
        const problem = problemOf(classes, budget)
        const large = {
          ...problem,
          costs: problem.costs.map(cost => cost * scale + (cost % 2)),
          budget: budget * scale,
        }
        const spelled = classes.map(({ required, options }) => ({
          required,
          options: options.map(([cost, value]) => [cost * scale + (cost % 2), value] as const),
        }))
        const best = bruteForce(spelled, large.budget)
        if (best === null) expect(solveMckp(large, { maxStates: 1e8 }).feasible).toBe(false)
        else expect(solved(large).value).toBe(best)
      }),
      { numRuns: runs(500) },
    )
  })
})
