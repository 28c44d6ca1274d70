import { greatestDivisor } from '../shared/lattice.ts'
import { toUnits, type ValueGrid } from '../shared/value-grid.ts'
import { type MckpInfeasible, type MckpProblem, SKIPPED } from './problem.ts'

/**
 * The problem without options that cannot be part of a best solution. The cheapest option of every
 * class is taken; costs and values are counted above it.
 */
export interface Reduced {
  readonly classes: number
  /** The options of class `i` are `[starts[i], starts[i + 1])`, by rising cost and rising value. */
  readonly starts: Uint32Array
  /** Above the class's first option, in `step`s; the first is 0. */
  readonly costs: Float64Array
  /** Above the class's first option, in units; the first is 0. */
  readonly values: Float64Array
  /** Index within the class as it was given, or `SKIPPED`. */
  readonly options: Int32Array
  /**
   * The budget that the first options leave, in whole steps. A rest below one step cannot be used.
   */
  readonly budget: number
  /** Sum of the first options' values, in units. */
  readonly baseValue: number
}

/**
 * Sorts every class. Drops options that cost more than the budget, and options for which another
 * one has at most the cost and at least the value (dominance, Pisinger 1995, definition 1; the
 * first of equals stays). Skipping is the first option of a class that is not required. O(n log m)
 * for n options in classes of m.
 */
export function reduce(problem: MckpProblem, grid: ValueGrid): Reduced | MckpInfeasible {
  const { starts: given, costs: givenCosts, values: givenValues, required } = problem
  const budget = budgetBesideRequired(problem)
  if (typeof budget !== 'number') return budget
  const classes = required.length
  const room = (given[classes] ?? 0) + classes
  const starts = new Uint32Array(classes + 1)
  const costs = new Float64Array(room)
  const values = new Float64Array(room)
  const options = new Int32Array(room)
  let end = 0
  let baseValue = 0
  let step = 0
  for (let i = 0; i < classes; i++) {
    const first = end
    const from = given[i]!
    const to = given[i + 1]!
    const base = required[i] === 1 ? smallest(givenCosts, from, to) : 0
    if (required[i] !== 1) {
      costs[end] = 0
      values[end] = 0
      options[end++] = SKIPPED
    }
    for (let j = from; j < to; j++) {
      const cost = givenCosts[j]! - base
      if (cost > budget) continue
      costs[end] = cost
      values[end] = toUnits(givenValues[j]!, grid)
      options[end++] = j - from
    }
    sortOptions(costs, values, options, first, end)
    const baseUnits = values[first]!
    baseValue += baseUnits
    let kept = first
    values[first] = 0
    for (let j = first + 1; j < end; j++) {
      const value = values[j]! - baseUnits
      if (value <= values[kept]!) continue
      kept++
      costs[kept] = costs[j]!
      values[kept] = value
      options[kept] = options[j]!
      if (step !== 1) step = greatestDivisor(step, costs[kept]!)
    }
    end = kept + 1
    starts[i + 1] = end
  }
  if (step > 1) for (let j = 0; j < end; j++) costs[j]! /= step
  const steps = step > 1 ? Math.floor(budget / step) : budget
  return { classes, starts, costs, values, options, budget: steps, baseValue }
}

/** The budget that the cheapest options of the required classes leave. */
function budgetBesideRequired(problem: MckpProblem): number | MckpInfeasible {
  const { starts, costs, required } = problem
  let left = problem.budget
  let minimum = 0n
  for (let i = 0; i < required.length; i++) {
    if (required[i] !== 1) continue
    const cost = smallest(costs, starts[i]!, starts[i + 1]!)
    if (cost === Infinity) return { feasible: false, minimumCost: null }
    if (left >= 0 && cost > left) minimum = BigInt(problem.budget - left)
    if (left < 0 || cost > left) {
      minimum += BigInt(cost)
      left = -1
    } else left -= cost
  }
  if (left >= 0) return left
  return {
    feasible: false,
    minimumCost: minimum <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(minimum) : null,
  }
}

function smallest(costs: Float64Array, from: number, to: number): number {
  let least = Infinity
  for (let j = from; j < to; j++) if (costs[j]! < least) least = costs[j]!
  return least
}

/** Longest range that insertion sort is faster on than making an array of indices. */
const SHORT = 24

/**
 * Sorts `[from, to)` of three parallel arrays by rising cost, then falling value; options that are
 * equal in both keep their order.
 */
function sortOptions(
  costs: Float64Array,
  values: Float64Array,
  options: Int32Array,
  from: number,
  to: number,
): void {
  if (to - from > SHORT) {
    sortLong(costs, values, options, from, to)
    return
  }
  for (let j = from + 1; j < to; j++) {
    const cost = costs[j]!
    const value = values[j]!
    const option = options[j]!
    let k = j
    for (; k > from; k--) {
      const before = costs[k - 1]!
      if (before < cost || (before === cost && values[k - 1]! >= value)) break
      costs[k] = before
      values[k] = values[k - 1]!
      options[k] = options[k - 1]!
    }
    costs[k] = cost
    values[k] = value
    options[k] = option
  }
}

function sortLong(
  costs: Float64Array,
  values: Float64Array,
  options: Int32Array,
  from: number,
  to: number,
): void {
  const oldCosts = costs.slice(from, to)
  const oldValues = values.slice(from, to)
  const oldOptions = options.slice(from, to)
  const order = Uint32Array.from(oldOptions, (_, j) => j)
  // An ordinary array's sort is stable; that of a typed array is too (ECMAScript 2019).
  order.sort((a, b) => oldCosts[a]! - oldCosts[b]! || oldValues[b]! - oldValues[a]!)
  for (let k = 0; k < order.length; k++) {
    const j = order[k]!
    costs[from + k] = oldCosts[j]!
    values[from + k] = oldValues[j]!
    options[from + k] = oldOptions[j]!
  }
}
