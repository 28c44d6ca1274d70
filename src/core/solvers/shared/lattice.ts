/**
 * Which values a solution can have. With `value − price · cost` a multiple of `step` for all
 * options, the value of a solution that uses the whole budget lies on a lattice, and every other
 * solution is bounded by a point of it: if the relaxation of the problem with values
 * `value − price · cost` allows at most k steps, no solution has a higher value than
 * `price · budget + k · step`. So bounds may be rounded down to the lattice. If values are
 * correlated with costs (v = c + 10 k), this closes the gap that makes such instances hard. The
 * bound is our own. The rounding of integer values is the case of price 0 and step 1.
 */
export interface Lattice {
  /** Units a step of cost, an integer between 0 and the relaxation's price. */
  readonly price: number
  /** Units; 0 if the lattice has a single point. */
  readonly step: number
  /** A point of the lattice, in units above the break solution. */
  readonly anchor: number
  /**
   * A solution that is better by no more than this, in units, is not searched for; 0 if values are
   * exact.
   */
  readonly tolerance: number
}

/** The options of a problem. Those of class `i` are `[starts[i], starts[i + 1])`. */
interface Options {
  readonly classes: number
  readonly starts: ArrayLike<number>
  /** In steps. */
  readonly costs: Float64Array
  /** In units. */
  readonly values: Float64Array
}

/**
 * The lattice of a problem; `exact` and `classes` as of its value grid.
 * @param relaxation its price in units a step, and the budget that its solution leaves
 */
export function latticeOf(
  options: Options,
  { price, left }: { readonly price: number; readonly left: number },
  exact: boolean,
): Lattice {
  // Rounding makes the value of each class too high by less than a unit.
  if (!exact) return { price: 0, step: 1, anchor: 0, tolerance: options.classes }
  const whole = Math.floor(price)
  const sloped = divisorAt(options, whole)
  const flat = whole === 0 || sloped === 0 ? sloped : divisorAt(options, 0)
  if (sloped === 0 || sloped > flat) {
    return { price: whole, step: sloped, anchor: whole * left, tolerance: 0 }
  }
  return { price: 0, step: flat, anchor: 0, tolerance: 0 }
}

/** Greatest common divisor of `value − price · cost` over all options. */
function divisorAt({ classes, starts, costs, values }: Options, price: number): number {
  let divisor = 0
  for (let j = 0, end = starts[classes]!; j < end && divisor !== 1; j++) {
    divisor = greatestDivisor(divisor, Math.abs(values[j]! - price * costs[j]!))
  }
  return divisor
}

/**
 * The value that a bound must reach if there is a solution better than `best`; both above the break
 * solution.
 */
export function neededFor(best: number, { step, anchor, tolerance }: Lattice): number {
  if (step === 0) return best < anchor ? anchor : Infinity
  if (tolerance > 0) return best + tolerance + 1
  return anchor + step * (Math.floor((best - anchor) / step) + 1)
}

/** The largest value that a solution with this bound can have. */
export function roundBound(bound: number, { step, anchor }: Lattice): number {
  if (step === 0) return Math.min(bound, anchor)
  return anchor + step * Math.floor((bound - anchor) / step)
}

/** Euclid's algorithm; 0 divides by everything. Takes integers below 2^53, not negative. */
export function greatestDivisor(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b]
  return a
}
