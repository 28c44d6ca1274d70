import type { History } from '../shared/history.ts'
import { Incumbent } from '../shared/incumbent.ts'
import type { Lattice } from '../shared/lattice.ts'
import type { States } from '../shared/states.ts'
import type { Forest } from './forest.ts'
import { type Priced, takeRest } from './lagrangian.ts'

/** Completes states with what the relaxation at a price takes from their node on. */
export interface Completion {
  /** The best completed solution so far; its first node is that of its state. */
  readonly incumbent: Incumbent
  /** Completes all states at a node of the forest at every price, and keeps the best. */
  complete(states: States, at: number): void
  /**
   * By node of the forest, what the solution takes. Returns `null` if no solution is better than
   * the one that was known.
   */
  taken(): Uint8Array | null
}

/** @param best units that are known to be reached */
export function createCompletion(
  forest: Forest,
  history: History,
  prices: readonly Priced[],
  lattice: Lattice,
  best: number,
): Completion {
  const incumbent = new Incumbent(lattice, best)
  let from = -1
  let by: Priced | undefined

  return {
    incumbent,
    complete(states, at) {
      for (const price of prices) {
        const last = lastLeaving(states, price.restCost[at]!)
        if (last === -1) continue
        const total = states.value[last]! + price.restValue[at]!
        if (total <= incumbent.value) continue
        incumbent.improve(total, states.node[last]!)
        from = at
        by = price
      }
    },
    taken() {
      if (by === undefined) return null
      const taken = new Uint8Array(forest.size)
      for (const node of history.trace(incumbent.nodes[0]!)) taken[node] = 1
      takeRest(forest, by, from, node => {
        taken[node] = 1
      })
      return taken
    },
  }
}

/** The last state, and so the most valuable, that leaves at least so much; -1 if none does. */
function lastLeaving({ left, count }: States, least: number): number {
  let from = -1
  let to = count
  while (to - from > 1) {
    const middle = (from + to) >> 1
    if (left[middle]! >= least) from = middle
    else to = middle
  }
  return from
}
