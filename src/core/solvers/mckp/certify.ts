import type { Reduced } from './reduce.ts'
import type { Relaxation } from './relaxation.ts'

/**
 * Covers the rounding of a product and of the sum that it is added to. Each is at most 2^-53 of the
 * value, so there is room to spare.
 */
export const ROUNDING = 2 ** -50

/** What the relaxation's price proves of every option. */
export interface Certificate {
  /**
   * By option: units that it could add if it was picked instead of the break solution's option, its
   * cost paid at the price; rounded up.
   */
  readonly gains: Float64Array
  /** Sum of every class's largest gain; 0 except for rounding. */
  readonly excess: number
  /** No solution has a higher value above the break solution, in units. */
  readonly bound: number
  /**
   * The best single option that still fits beside the break solution's others; -1 if none is
   * better.
   */
  readonly swap: number
  /** Units that the swap brings; 0 if none. */
  readonly swapValue: number
}

/**
 * An upper bound that is valid for this price, whatever rounding led to it (weak duality): budget
 * left times price, plus each class's largest gain. Every operation is rounded up.
 */
export function certify(reduced: Reduced, { picks, price, left }: Relaxation): Certificate {
  const { classes, starts, costs, values } = reduced
  const dear = price * (1 + ROUNDING)
  const cheap = price * (1 - ROUNDING)
  const gains = new Float64Array(starts[classes]!)
  let excess = 0
  let swap = -1
  let swapValue = 0
  for (let i = 0; i < classes; i++) {
    const end = starts[i + 1]!
    const picked = picks[i]!
    const cost = costs[picked]!
    const value = values[picked]!
    let largest = 0
    for (let j = starts[i]!; j < end; j++) {
      const more = costs[j]! - cost
      const added = values[j]! - value
      const gain = added - more * (more > 0 ? cheap : dear)
      gains[j] = gain
      if (gain > largest) largest = gain
      if (more <= left && added > swapValue) {
        swap = j
        swapValue = added
      }
    }
    excess += largest
  }
  excess *= 1 + classes * Number.EPSILON
  const bound = (left * price + excess) * (1 + ROUNDING)
  return { gains, excess, bound, swap, swapValue }
}
