import { type History, ROOT } from './history.ts'
import { type Lattice, neededFor } from './lattice.ts'

/** The best solution so far. */
export interface Incumbent {
  /** Units above the break solution. */
  readonly value: number
  /** What the bound of a state must reach for a better one. */
  readonly needed: number
  /** Two nodes of the history whose paths together are what differs from the break solution. */
  readonly nodes: Int32Array
  /** Takes a better solution. */
  improve(value: number, first: number, second?: number): void
}

/** The break solution, or with one option instead of its own (-1: none), which adds `value`. */
export function createIncumbent(
  history: History,
  lattice: Lattice,
  { swap, swapValue }: { readonly swap: number; readonly swapValue: number },
): Incumbent {
  let value = swapValue
  let needed = neededFor(value, lattice)
  const nodes = Int32Array.of(swap === -1 ? ROOT : history.add(ROOT, swap), ROOT)
  return {
    get value() {
      return value
    },
    get needed() {
      return needed
    },
    nodes,
    improve(better, first, second = ROOT) {
      value = better
      needed = neededFor(value, lattice)
      nodes[0] = first
      nodes[1] = second
    },
  }
}
