import { solveMckp } from '../../../../../src/core/solvers/mckp/mckp.ts'
import type { MckpProblem, MckpSolution } from '../../../../../src/core/solvers/mckp/problem.ts'
import { sumOfLargest } from '../../../../../src/core/solvers/shared/value-grid.ts'

/** A class as a test spells it: pairs of cost and value. */
export interface ClassOf {
  readonly required?: boolean
  readonly options: readonly (readonly [cost: number, value: number])[]
}

export function problemOf(classes: readonly ClassOf[], budget: number): MckpProblem {
  const options = classes.flatMap(each => each.options)
  let end = 0
  return {
    starts: Uint32Array.of(0, ...classes.map(each => (end += each.options.length))),
    costs: Float64Array.from(options, ([cost]) => cost),
    values: Float64Array.from(options, ([, value]) => value),
    required: Uint8Array.from(classes, ({ required = false }) => (required ? 1 : 0)),
    budget,
  }
}

/** Solves without a limit to speak of; fails where the required classes do not fit. */
export function solved(problem: MckpProblem, maxStates = 1e8): MckpSolution {
  const solution = solveMckp(problem, { maxStates })
  if (!solution.feasible) throw new Error('infeasible')
  return solution
}

/** The largest value by trying every choice; `null` if none fits. */
export function bruteForce(classes: readonly ClassOf[], budget: number): number | null {
  const [first, ...rest] = classes
  if (first === undefined) return 0
  const skipping = first.required === true ? [] : [[0, 0] as const]
  const values = [...skipping, ...first.options].flatMap(([cost, value]) => {
    const below = cost > budget ? null : bruteForce(rest, budget - cost)
    return below === null ? [] : [value + below]
  })
  return values.length === 0 ? null : Math.max(...values)
}

/** The largest value by a table over all budgets (Bellman); `null` if no choice fits. */
export function tableOf({ starts, costs, values, required, budget }: MckpProblem): number | null {
  let table = new Float64Array(budget + 1)
  for (let i = 0; i < required.length; i++) {
    const next = new Float64Array(budget + 1).fill(-Infinity)
    if (required[i] !== 1) next.set(table)
    for (let j = starts[i]!; j < starts[i + 1]!; j++) {
      for (let used = costs[j]!; used <= budget; used++) {
        next[used] = Math.max(next[used]!, table[used - costs[j]!]! + values[j]!)
      }
    }
    table = next
  }
  const value = table[budget]!
  return value === -Infinity ? null : value
}

/** What is wrong with a solution, beside its value; an empty list if nothing is. */
export function faultsOf(problem: MckpProblem, solution: MckpSolution): string[] {
  const { starts, costs, values, required, budget } = problem
  const faults: string[] = []
  let cost = 0n
  let value = 0
  solution.picks.forEach((pick, i) => {
    if (pick === -1) {
      if (required[i] === 1) faults.push(`class ${i} is required`)
      return
    }
    const j = starts[i]! + pick
    if (pick < 0 || j >= starts[i + 1]!) faults.push(`class ${i} has no option ${pick}`)
    cost += BigInt(costs[j]!)
    value += values[j]!
  })
  if (solution.picks.length !== required.length) faults.push('not one pick a class')
  if (cost !== BigInt(solution.cost) || cost > BigInt(budget)) faults.push(`cost ${cost}`)
  const rounding = 1e-12 * value
  if (Math.abs(value - solution.value) > rounding) faults.push(`value ${value}`)
  if (solution.upperBound < solution.value) faults.push('the bound is below the value')
  if (solution.optimal && solution.upperBound > solution.value + 1e-9 * sumOfLargest(problem)) {
    faults.push('optimal, with a gap')
  }
  return faults
}
