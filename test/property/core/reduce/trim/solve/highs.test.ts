import { expect, it } from 'vitest'
import { FULL_RUNS } from '../../../../../support/runs.ts'
import { someOf } from '../../../../../support/short-runs.ts'
import { FAMILIES, type Family, makeTree } from '../../../../../support/trim/families.ts'
import { solveTreeWithHighs } from '../../../../../support/trim/highs.ts'
import { chosen, faultsOf } from '../../../../../unit/core/reduce/trim/solve/oracles.ts'

const families = Object.keys(FAMILIES) as Family[]
/** As many as take a few seconds. */
const SEEDS = FULL_RUNS ? 5 : 1

it.each(someOf(families, 2))('is as good as HiGHS on trees: %s', family => {
  for (let seed = 0; seed < SEEDS; seed++) {
    const tree = makeTree(family, 20 + 10 * seed, seed)
    const budget = 60 + 25 * seed
    const choice = chosen(tree, budget)
    expect([choice.optimal, faultsOf(tree, budget, choice)]).toEqual([true, []])
    expect(choice.value).toBeCloseTo(solveTreeWithHighs(tree, budget)!, 6)
  }
})
