import { toUnits, valueGrid } from '../shared/value-grid.ts'
import { type Setting, solveExactly } from './exact.ts'
import { keepBy } from './heuristics.ts'
import { DROPPED, dropWorthless, statusOf } from './status.ts'
import { checkTree, type TrimTree } from './tree.ts'

/** Ways to choose what is kept. */
export type TrimAlgorithm = 'exact' | 'greedy' | 'fair' | 'head_tail'

/** What is kept of a tree. */
export interface TrimChoice {
  /** By node: 1 if it is kept. The root is, and with every node its parent. */
  readonly kept: Uint8Array
  /** Sum of the kept costs, in tokens; within the budget. */
  readonly cost: number
  /** Sum of the kept values. */
  readonly value: number
  /** Nothing that fits has a higher value. Never below `value`. */
  readonly upperBound: number
  /**
   * Whether it is proven that nothing that fits has a higher value, except for the rounding of
   * values that doubles cannot add exactly.
   */
  readonly optimal: boolean
  /** (upperBound - value) / upperBound, from 0 to 1. */
  readonly gap: number
  /** The algorithm that made the choice. */
  readonly algorithm: TrimAlgorithm
  /** Work of the exact algorithm, in states or steps that take as long; 0 if it did not run. */
  readonly work: number
}

export interface TrimOptions {
  /**
   * Default `auto`: exact, or if that stops before its end, the best of what it and the others
   * found.
   */
  readonly algorithm?: TrimAlgorithm | 'auto'
  /** Work after which the exact algorithm stops with the best so far; default `MAX_WORK`. */
  readonly maxWork?: number
}

/** Enough to solve any tree of 10,000 nodes at 8,000 tokens; about half a second. */
const MAX_WORK = 1.5e7

/**
 * Chooses the most valuable part of a tree within a budget of tokens: the precedence-constrained
 * knapsack on a tree (Cho and Shaw 1997). The same arguments give the same choice everywhere: there
 * is no clock and no randomness, and ties are decided by the order of nodes. No node is kept that
 * costs something and adds no value. Methods and guarantees:
 * docs/internals/algorithms.md. @returns `minimum`, the tokens of the required nodes, if that is
 * above the budget @throws RangeError if the tree is invalid, or the budget is not an integer from
 * 0 to 2^53 - 1
 */
export function trimTree(
  tree: TrimTree,
  budget: number,
  { algorithm = 'auto', maxWork = MAX_WORK }: TrimOptions = {},
): TrimChoice | { readonly minimum: number } {
  checkTree(tree)
  if (!(Number.isSafeInteger(budget) && budget >= 0)) {
    throw new RangeError('budget: expected an integer in [0, 2^53)')
  }
  const { status, minimum } = statusOf(tree, budget)
  if (minimum > budget) return { minimum }
  // Only nodes that can be kept decide how finely values are distinguished.
  const values = tree.value.map((own, i) => (status[i] === DROPPED ? 0 : own))
  const grid = gridOf(values)
  const units = values.map(own => toUnits(own, grid))
  const setting = { tree, units, isExact: grid.exact, budget, maxWork }
  const { bound, candidates, isOptimal, work } = solve(setting, status, algorithm)
  for (const { kept } of candidates) dropWorthless(tree, kept)
  const sums = candidates.map(({ kept }) => sumsOf(tree, kept))
  // The first of equals.
  const best = sums.reduce((at, { value }, i) => (value > sums[at]!.value ? i : at), 0)
  const { cost, value } = sums[best]!
  const upperBound = Math.max(value, Math.min(bound * grid.unit, Number.MAX_VALUE))
  return {
    ...candidates[best]!,
    cost,
    value,
    upperBound,
    optimal: isOptimal || value === upperBound,
    gap: upperBound === 0 ? 0 : (upperBound - value) / upperBound,
    work,
  }
}

interface TrimCandidate {
  readonly kept: Uint8Array
  readonly algorithm: TrimAlgorithm
}

function solve(setting: Setting, status: Uint8Array, algorithm: TrimAlgorithm | 'auto') {
  if (algorithm !== 'auto' && algorithm !== 'exact') {
    const { kept, bound, isOptimal } = keepBy(algorithm, setting, status)
    return { bound, candidates: [{ kept, algorithm }], isOptimal, work: 0 }
  }
  const { kept, bound, isComplete, work } = solveExactly(setting, status.slice())
  const candidates: TrimCandidate[] = [{ kept, algorithm: 'exact' }]
  // The exact algorithm starts from the greedy solution.
  if (algorithm === 'auto' && !isComplete) {
    for (const other of ['fair', 'head_tail'] as const) {
      candidates.push({ kept: keepBy(other, setting, status.slice()).kept, algorithm: other })
    }
  }
  return { bound, candidates, isOptimal: isComplete, work }
}

/** The grid of nodes, each a class of its own. */
function gridOf(values: Float64Array) {
  const size = values.length
  const starts = Uint32Array.from({ length: size + 1 }, (_, i) => i)
  return valueGrid({ starts, values, required: new Uint8Array(size) })
}

/** The sum of values is compensated (Neumaier 1974), and exact if the grid is. */
function sumsOf({ cost, value }: TrimTree, kept: Uint8Array) {
  let spent = 0
  let total = 0
  let lost = 0
  for (let i = 0; i < kept.length; i++) {
    if (kept[i] === 0) continue
    spent += cost[i]!
    const more = value[i]!
    const sum = total + more
    lost += total >= more ? total - sum + more : more - sum + total
    total = sum
  }
  return { cost: spent, value: total + lost }
}
