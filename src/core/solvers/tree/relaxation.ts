import { type Lattice, latticeOf } from '../shared/lattice.ts'
import { blocksOf } from './blocks.ts'
import type { Forest } from './forest.ts'
import { breakPrice, takeGreedily } from './greedy.ts'
import { type Priced, priced, slackOf } from './lagrangian.ts'

/** A forest's linear relaxation, and the solution that comes with it. */
export interface Relaxed {
  /** The forest at the price at which the relaxation's budget ends; 0 if all fits. */
  readonly main: Priced
  /** Which values a solution can have. */
  readonly lattice: Lattice
  /** Units above the forest's base that no solution exceeds; rounding included. */
  readonly bound: number
  /** The greedy solution, by node of the forest. */
  readonly taken: Uint8Array
  /** Its value in units above the forest's base. */
  readonly value: number
}

/**
 * The relaxation by blocks, whose optimum is the Lagrangian's at the density of the block that does
 * not fit as a whole; the bound holds for that price whatever rounding led to it (weak duality).
 * O(n log n)
 * @param isExact whether the forest's units are its values, not rounded up
 */
export function relax(forest: Forest, isExact: boolean): Relaxed {
  const { size, cost, value, budget } = forest
  const blocks = blocksOf(forest)
  const price = breakPrice(forest, blocks)
  const main = priced(forest, price)
  const greedy = takeGreedily(forest, blocks)
  const slack = slackOf(forest, price)
  // If all fits, nothing needs to be rounded.
  const bound = price === 0 ? greedy.value : main.rest[0]! + price * budget + slack
  const starts = Uint32Array.from({ length: size + 1 }, (_, i) => i)
  const problem = { classes: size, starts, costs: cost, values: value }
  const exact = latticeOf(problem, { price, left: budget }, isExact)
  // Rounded values that the bounds cannot distinguish count as equal.
  const lattice = isExact ? exact : { ...exact, tolerance: size + 2 * slack }
  return { main, lattice, bound, taken: greedy.taken, value: greedy.value }
}
