import { ROOT } from './history.ts'
import { type Lattice, neededFor } from './lattice.ts'

/** The best solution so far. */
export class Incumbent {
  /**
   * Nodes of the history whose paths together are the solution. A compaction of the history
   * renumbers them in place.
   */
  readonly nodes = Int32Array.of(ROOT, ROOT)
  readonly #lattice: Lattice
  #value: number
  #needed: number

  /** @param value units that are known to be reached, by the solution that `nodes` start with */
  constructor(lattice: Lattice, value: number) {
    this.#lattice = lattice
    this.#value = value
    this.#needed = neededFor(value, lattice)
  }

  /** Units. */
  get value(): number {
    return this.#value
  }

  /** The value that the bound of a state must reach for a better solution. */
  get needed(): number {
    return this.#needed
  }

  /** Takes a better solution. */
  improve(value: number, first: number, second = ROOT): void {
    this.#value = value
    this.#needed = neededFor(value, this.#lattice)
    this.nodes[0] = first
    this.nodes[1] = second
  }
}
