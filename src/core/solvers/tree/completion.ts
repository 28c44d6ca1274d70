import { type History, ROOT } from '../mckp/history.ts'
import { type Lattice, neededFor } from '../mckp/lattice.ts'
import type { States } from '../mckp/states.ts'
import type { Forest } from './forest.ts'
import { type Priced, takeRest } from './lagrangian.ts'

/**
 * The best solution so far: a state, and what the relaxation at one of the prices takes from there
 * on.
 */
export interface Completion {
  /** Units. */
  readonly value: number
  /** What the bound of a state must reach for a better one. */
  readonly needed: number
  /** The state's node of the history. */
  readonly nodes: Int32Array
  /** Completes all states at a node of the forest at every price, and keeps the best. */
  complete(states: States, at: number): void
  /**
   * By node of the forest: what the solution takes; `null` if none is better than what was known.
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
  let value = best
  let needed = neededFor(value, lattice)
  const nodes = Int32Array.of(ROOT)
  let from = -1
  let by: Priced | undefined

  return {
    get value() {
      return value
    },
    get needed() {
      return needed
    },
    nodes,
    complete(states, at) {
      for (const price of prices) {
        const last = lastLeaving(states, price.restCost[at]!)
        if (last === -1) continue
        const total = states.value[last]! + price.restValue[at]!
        if (total <= value) continue
        value = total
        needed = neededFor(value, lattice)
        nodes[0] = states.node[last]!
        from = at
        by = price
      }
    },
    taken() {
      if (by === undefined) return null
      const taken = new Uint8Array(forest.size)
      for (const node of history.trace(nodes[0]!)) taken[node] = 1
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
