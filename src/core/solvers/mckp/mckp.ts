import { latticeOf } from '../shared/lattice.ts'
import { valueGrid } from '../shared/value-grid.ts'
import { certify } from './certify.ts'
import {
  checkProblem,
  type MckpInfeasible,
  type MckpProblem,
  type MckpSolution,
  SKIPPED,
  type SolveOptions,
} from './problem.ts'
import { type Reduced, reduce } from './reduce.ts'
import { type Relaxation, relax } from './relaxation.ts'
import { search } from './search.ts'

/**
 * Solves a multiple-choice knapsack problem exactly, or stops after `maxStates` with the best
 * solution so far and a bound. The same problem and `maxStates` give the same picks everywhere: no
 * clock, no randomness, no order but that of classes and options. Of options of a class that are
 * equal in cost and value the first is picked. An option without cost and value is not picked.
 * Beyond that, it is not promised which of several best solutions is given. Method and guarantees:
 * docs/internals/algorithms.md.
 * @throws RangeError if the problem breaks what `MckpProblem` says of its numbers
 */
export function solveMckp(
  problem: MckpProblem,
  options: SolveOptions,
): MckpSolution | MckpInfeasible {
  checkProblem(problem)
  const grid = valueGrid(problem)
  const reduced = reduce(problem, grid)
  if ('feasible' in reduced) return reduced
  const relaxation = relax(reduced)
  const lattice = latticeOf(reduced, relaxation, grid.exact)
  const found = search(reduced, relaxation, certify(reduced, relaxation), lattice, options)
  const picks = picksOf(reduced, relaxation, found.changes)
  const { cost, value } = sumsOf(problem, picks)
  const units = reduced.baseValue + relaxation.value + found.bound
  return {
    feasible: true,
    picks,
    cost,
    value,
    optimal: found.complete,
    upperBound: Math.max(value, Math.min(units * grid.unit, Number.MAX_VALUE)),
    states: found.states,
  }
}

/** The break solution with changes, by class as the problem gives its options. */
function picksOf(reduced: Reduced, relaxation: Relaxation, changes: readonly number[]): Int32Array {
  const picked = relaxation.picks.slice()
  for (const option of changes) picked[classOf(reduced, option)] = option
  return Int32Array.from(picked, option => reduced.options[option]!)
}

function classOf({ classes, starts }: Reduced, option: number): number {
  let from = 0
  let to = classes
  while (to - from > 1) {
    const middle = (from + to) >> 1
    if (starts[middle]! <= option) from = middle
    else to = middle
  }
  return from
}

/**
 * Sums by the order of classes; that of values is compensated (Neumaier 1974), and exact if the
 * grid is.
 */
function sumsOf({ starts, costs, values }: MckpProblem, picks: Int32Array) {
  let cost = 0
  let value = 0
  let lost = 0
  for (let i = 0; i < picks.length; i++) {
    if (picks[i] === SKIPPED) continue
    const j = starts[i]! + picks[i]!
    cost += costs[j]!
    const more = values[j]!
    const sum = value + more
    lost += value >= more ? value - sum + more : more - sum + value
    value = sum
  }
  return { cost, value: value + lost }
}
