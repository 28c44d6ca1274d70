import type { Reduced } from './reduce.ts'

/** The best choice for one price of cost, from which bounds of all others follow. */
export interface Relaxation {
  /**
   * Price of a step of cost in units of value: the slope at which the budget is used up; 0 if all
   * fits.
   */
  readonly price: number
  /**
   * By class: the option that the break solution picks, as an index into the arrays of `Reduced`.
   */
  readonly picks: Uint32Array
  /** Budget that the break solution leaves, in steps. */
  readonly left: number
  /** Sum of the break solution's values, in units. */
  readonly value: number
}

/**
 * The linear relaxation and the break solution: taken from each class's convex hull, steepest step
 * first, until one does not fit (Sinha and Zoltners 1979; Zemel 1980). O(n log n): the slopes are
 * sorted. The slope at which the budget ends is found by bisection, with one pass over all steps
 * for each try.
 */
export function relax(reduced: Reduced): Relaxation {
  const { classes, starts, values, budget } = reduced
  const hull = hullOf(reduced)
  const price = breakSlope(hull, budget)
  const picks = new Uint32Array(classes)
  let left = budget
  // All steeper steps fit. Steps as steep as the price are taken if they fit, in the order of
  // classes.
  for (let i = 0; i < classes; i++) {
    let step = hull.starts[i]!
    const end = hull.starts[i + 1]!
    while (step < end && hull.slopes[step]! > price) left -= hull.costs[step++]!
    picks[i] = step === hull.starts[i]! ? starts[i]! : hull.ends[step - 1]!
  }
  for (let i = 0; i < classes; i++) {
    let step = hull.starts[i]!
    const end = hull.starts[i + 1]!
    while (step < end && hull.slopes[step]! > price) step++
    if (step === end || hull.slopes[step]! < price) continue
    if (hull.costs[step]! > left) continue
    left -= hull.costs[step]!
    picks[i] = hull.ends[step]!
  }
  let value = 0
  for (let i = 0; i < classes; i++) value += values[picks[i]!]!
  return { price, picks, left, value }
}

/** The steps along the upper convex hulls of all classes, without the first options. */
interface Hull {
  /** The steps of class `i` are `[starts[i], starts[i + 1])`, by falling slope. */
  readonly starts: Uint32Array
  /** The end of the step: an index into the arrays of `Reduced`. */
  readonly ends: Uint32Array
  readonly costs: Float64Array
  readonly slopes: Float64Array
  readonly length: number
}

/**
 * Options below the line between two others are dominated in the relaxation (Sinha and Zoltners
 * 1979).
 */
function hullOf({ classes, starts: given, costs, values }: Reduced): Hull {
  const room = given[classes]! - classes
  const starts = new Uint32Array(classes + 1)
  const ends = new Uint32Array(room)
  const steps = new Float64Array(room)
  const slopes = new Float64Array(room)
  let length = 0
  for (let i = 0; i < classes; i++) {
    const first = length
    const base = given[i]!
    for (let j = base + 1, to = given[i + 1]!; j < to; j++) {
      let from = length === first ? base : ends[length - 1]!
      let slope = (values[j]! - values[from]!) / (costs[j]! - costs[from]!)
      while (length > first && slope >= slopes[length - 1]!) {
        length--
        from = length === first ? base : ends[length - 1]!
        slope = (values[j]! - values[from]!) / (costs[j]! - costs[from]!)
      }
      ends[length] = j
      steps[length] = costs[j]! - costs[from]!
      slopes[length++] = slope
    }
    starts[i + 1] = length
  }
  return { starts, ends, costs: steps, slopes, length }
}

/** The largest slope at which all steps as steep or steeper do not fit; 0 if all steps fit. */
function breakSlope({ costs, slopes, length }: Hull, budget: number): number {
  const sorted = slopes.slice(0, length).sort()
  const fits = (slope: number): boolean => {
    let left = budget
    for (let step = 0; step < length; step++) {
      if (slopes[step]! < slope) continue
      left -= costs[step]!
      if (left < 0) return false
    }
    return true
  }
  if (length === 0 || fits(sorted[0]!)) return 0
  let tooMuch = 0
  let enough = length
  while (enough - tooMuch > 1) {
    const middle = (enough + tooMuch) >>> 1
    if (fits(sorted[middle]!)) enough = middle
    else tooMuch = middle
  }
  return sorted[tooMuch]!
}
