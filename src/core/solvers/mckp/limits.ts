import type { Lattice } from '../shared/lattice.ts'
import type { Limits } from '../shared/states.ts'
import { type Certificate, ROUNDING } from './certify.ts'
import type { Slopes } from './core.ts'
import type { Reduced } from './reduce.ts'
import type { Relaxation } from './relaxation.ts'

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
