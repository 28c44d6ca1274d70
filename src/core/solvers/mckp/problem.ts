/**
 * A multiple-choice knapsack problem: from every class at most one option, from a required class
 * exactly one. The sum of costs must be within the budget, and the sum of values as large as
 * possible. The arrays are flat, so that a caller with many small problems can fill them again.
 */
export interface MckpProblem {
  /**
   * The options of class `i` are `[starts[i], starts[i + 1])` of the arrays below; one entry more
   * than classes.
   */
  readonly starts: Uint32Array
  /** Integers in [0, 2^53). */
  readonly costs: Float64Array
  /** Finite and not negative; the sum of every class's largest is finite too. */
  readonly values: Float64Array
  /** 1 if the class must pick, one entry a class. */
  readonly required: Uint8Array
  /** Integer in [0, 2^53). */
  readonly budget: number
}

/** What the solver found. */
export interface MckpSolution {
  readonly feasible: true
  /** By class: index of the picked option within its class, or `SKIPPED`. */
  readonly picks: Int32Array
  /** Sum of the picked costs; exact. */
  readonly cost: number
  /** Sum of the picked values; exact if `valueGrid` is. */
  readonly value: number
  /**
   * Whether it is proven that no choice that fits has a higher value than `value`. If sums are not
   * exact, no choice has a higher value than `upperBound`, which then differs from `value` only by
   * rounding.
   */
  readonly optimal: boolean
  /** No choice that fits has a higher value. Never below `value`. */
  readonly upperBound: number
  /** Work that was done: states generated. */
  readonly states: number
}

/** The required classes do not fit. */
export interface MckpInfeasible {
  readonly feasible: false
  /** The smallest budget at which they would; `null` if that is 2^53 or more. */
  readonly minimumCost: number | null
}

export interface SolveOptions {
  /** Stop before more states than this were generated. */
  readonly maxStates: number
  /** Asked once a class of the core; `true` stops at once. */
  shouldStop?(): boolean
}

/** A class's pick if nothing of it is picked. */
export const SKIPPED = -1

/** @throws RangeError if the problem's numbers are not as `MckpProblem` describes them. */
export function checkProblem({ starts, costs, values, required, budget }: MckpProblem): void {
  if (!isCost(budget)) throw new RangeError('budget: expected an integer in [0, 2^53)')
  const end = starts.at(-1) ?? 0
  if (starts.length !== required.length + 1 || costs.length < end || values.length < end) {
    throw new RangeError('the arrays do not belong together')
  }
  for (let i = 0; i < end; i++) {
    if (!isCost(costs[i]!)) throw new RangeError(`costs[${i}]: expected an integer in [0, 2^53)`)
    const value = values[i]!
    if (!(value >= 0 && value < Infinity)) {
      throw new RangeError(`values[${i}]: expected a finite number, not negative`)
    }
  }
}

function isCost(cost: number): boolean {
  return Number.isSafeInteger(cost) && cost >= 0
}

/** The work that a search may do: a count of states generated, and a caller's way to stop it. */
export interface Work {
  readonly states: number
  /** Whether so many more states may be generated. */
  allows(more: number): boolean
  add(more: number): void
}

export function createWork({ maxStates, shouldStop }: SolveOptions): Work {
  let states = 0
  let isStopped = false
  return {
    get states() {
      return states
    },
    allows(more) {
      isStopped ||= shouldStop?.() === true
      return !isStopped && states + more <= maxStates
    },
    add(more) {
      states += more
    },
  }
}
