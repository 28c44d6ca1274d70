import { type Certificate, ROUNDING } from './certify.ts'
import type { Slopes } from './core.ts'
import type { Lattice } from './lattice.ts'
import type { Reduced } from './reduce.ts'
import type { Relaxation } from './relaxation.ts'

/** What decides whether a state can still become a better solution. */
export interface Limits {
  /** Units that a step of budget left can bring at most. */
  readonly gainPerStep: number
  /** Units that a step of budget used too much loses at least. */
  readonly lossPerStep: number
  /** Units that bounds are raised by. */
  readonly slack: number
  /** What a bound, without the slack, must reach. */
  readonly needed: number
  /**
   * Least budget left that a state can have, in steps: the other classes cannot free more than all.
   */
  readonly lowest: number
}

/**
 * Limits by the slopes of the classes that are not in the core. Weak duality needs one price for
 * both directions: should rounding have put the two slopes into the wrong order, their difference
 * is added for the whole budget.
 */
export function limitsBySlopes(
  { up, down }: Slopes,
  needed: number,
  lattice: Lattice,
  { budget }: Reduced,
): Limits {
  const gainPerStep = Math.max(up, lattice.price)
  const slack = 2 * Math.max(0, gainPerStep - down) * budget
  return { gainPerStep, lossPerStep: down, slack, needed: needed - slack, lowest: -budget }
}

/** Limits by the price alone, which hold for states over any classes; weaker. */
export function limitsByPrice(
  { price }: Relaxation,
  { excess }: Certificate,
  needed: number,
  { budget }: Reduced,
): Limits {
  const [gainPerStep, lossPerStep] = [price * (1 + ROUNDING), price * (1 - ROUNDING)]
  const slack = excess + 2 * (gainPerStep - lossPerStep) * budget
  return { gainPerStep, lossPerStep, slack, needed: needed - slack, lowest: -budget }
}
