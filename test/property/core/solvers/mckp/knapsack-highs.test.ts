import { expect, it } from 'vitest'
import { solveWithHighs } from '../../../../support/knapsack/highs.ts'
import { randomInstances } from '../../../../support/knapsack/instances.ts'
import { FULL_RUNS, SEED } from '../../../../support/runs.ts'
import { faultsOf, solved } from '../../../../unit/core/solvers/mckp/oracles.ts'

/** As many as take a few seconds. */
const COUNT = FULL_RUNS ? 40 : 1

it(`is as good as HiGHS on random instances: ${COUNT}`, () => {
  for (const problem of randomInstances(COUNT, SEED)) {
    const solution = solved(problem)
    expect(faultsOf(problem, solution)).toEqual([])
    expect([solution.optimal, solution.value]).toEqual([true, solveWithHighs(problem)])
  }
})
