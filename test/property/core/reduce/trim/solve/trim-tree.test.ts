import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { TrimTree } from '../../../../../../src/core/solvers/tree/tree.ts'
import { trimTree } from '../../../../../../src/core/solvers/tree/trim-tree.ts'
import { runs } from '../../../../../support/runs.ts'
import { naiveValue } from '../../../../../support/trim/naive.ts'
import { bruteForce, faultsOf } from '../../../../../unit/core/reduce/trim/solve/oracles.ts'

/** How values come about; costs are given. */
const VALUES: readonly fc.Arbitrary<(cost: number) => fc.Arbitrary<number>>[] = [
  fc.constant(() => fc.nat(20)),
  fc.constant(() => fc.double({ min: 0, max: 1, noNaN: true })),
  fc.constant(cost => fc.constant(cost)),
  fc.constant(cost => fc.constant(cost + 10)),
  fc.constant(() => fc.constant(1)),
  // As trimming makes them: worth a token times tokens.
  fc.constant(cost => fc.constantFrom(0.3, 0.5, 0.7, 1).map(worth => worth * cost)),
  fc.constant(() => fc.double({ min: 0, max: 1e300, noNaN: true })),
]

interface Size {
  readonly nodes: number
  readonly cost: number
  /** Likelihood of a required node, in 1/100. */
  readonly required: number
}

/** Trees whose parents are anywhere before their children, or close by: wide ones and deep ones. */
function trees({ nodes, cost, required }: Size): fc.Arbitrary<TrimTree> {
  return fc
    .tuple(fc.constantFrom(1, 3, nodes), fc.constantFrom(1, cost), fc.constantFrom(...VALUES))
    .chain(([near, most, values]) =>
      fc.tuple(
        values,
        fc.array(
          fc.tuple(fc.nat(near - 1), fc.nat(most), fc.integer({ min: 1, max: 100 }), fc.nat()),
          { minLength: 1, maxLength: nodes },
        ),
      ),
    )
    .chain(([totalValue, made]) =>
      fc.tuple(...made.map(([, cost]) => totalValue(cost))).map(value => ({
        parent: Int32Array.from(made, ([back], i) => Math.max(0, i - 1 - back) - Number(i === 0)),
        cost: Int32Array.from(made, ([, cost]) => cost),
        value: Float64Array.from(value),
        required: Uint8Array.from(made, ([, , chance]) => Number(chance <= required)),
      })),
    )
}

const small = trees({ nodes: 16, cost: 12, required: 5 })
const medium = trees({ nodes: 150, cost: 30, required: 0 })
const close = (value: number) => ({ at: value * (1 - 1e-9), to: value * (1 + 1e-9) })

it('is as good as trying everything on 1,000 small trees', () => {
  fc.assert(
    fc.property(small, fc.nat(60), (tree, budget) => {
      const best = bruteForce(tree, budget)
      const choice = trimTree(tree, budget)
      if ('minimum' in choice) {
        expect(best).toBe(null)
        expect(choice.minimum).toBeGreaterThan(budget)
        expect(bruteForce(tree, choice.minimum - 1)).toBe(null)
        expect(bruteForce(tree, choice.minimum)).not.toBe(null)
        return
      }
      expect([choice.optimal, faultsOf(tree, budget, choice)]).toEqual([true, []])
      expect(choice.value).toBeGreaterThanOrEqual(close(best!).at)
      expect(choice.upperBound).toBeGreaterThanOrEqual(best! * (1 - 1e-15))
    }),
    { numRuns: runs(1_000) },
  )
})

it('is as good as the plain dynamic program on larger ones, whichever part of it finds the solution', () => {
  fc.assert(
    fc.property(medium, fc.nat(400), (tree, more) => {
      const budget = tree.cost[0]! + more
      const best = naiveValue(tree, budget)
      const choice = trimTree(tree, budget)
      if ('minimum' in choice) throw new Error('it fits')
      expect([choice.optimal, faultsOf(tree, budget, choice)]).toEqual([true, []])
      expect(choice.value).toBeGreaterThanOrEqual(close(best).at)
      expect(choice.value).toBeLessThanOrEqual(close(best).to)
    }),
    { numRuns: runs(200) },
  )
})

it('keeps what it says of every algorithm, wherever it stops', () => {
  const algorithms = fc.constantFrom('auto', 'exact', 'greedy', 'fair', 'head_tail')
  fc.assert(
    fc.property(small, fc.nat(60), algorithms, fc.nat(300), (tree, budget, algorithm, maxWork) => {
      const choice = trimTree(tree, budget, { algorithm, maxWork })
      if ('minimum' in choice) return
      const best = bruteForce(tree, budget)!
      expect(faultsOf(tree, budget, choice)).toEqual([])
      expect(choice.work).toBeLessThanOrEqual(maxWork)
      expect(choice.upperBound).toBeGreaterThanOrEqual(best * (1 - 1e-15))
      if (choice.optimal) expect(choice.value).toBeGreaterThanOrEqual(close(best).at)
    }),
    { numRuns: runs(1_000) },
  )
})
