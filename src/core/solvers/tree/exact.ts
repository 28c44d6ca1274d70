import { neededFor, roundBound } from '../shared/lattice.ts'
import { type Forest, forestOf } from './forest.ts'
import { type Priced, priced } from './lagrangian.ts'
import { relax } from './relaxation.ts'
import { search } from './search.ts'
import { DROPPED, JOINED, keptBy } from './status.ts'
import { cellsOf, solveByTable } from './table.ts'
import type { TrimTree } from './tree.ts'

/** States that each node keeps in the first search, which only looks for a better start. */
const NARROW = 32
/** Factors of the relaxation's price at which states are completed as well. */
const FACTORS = [1.02, 0.98, 1.1, 0.9, 1.5, 0.6]
/** How far the search may be ahead of the table's time before the table takes over. */
const LEAD = 1 / 8
/** Cells of the table that take as long as a state of the search. */
const CELLS_PER_STATE = 12
/** Most cells of the table, at a bit each. */
const MAX_CELLS = 2 ** 28

export interface Solved {
  readonly kept: Uint8Array
  /** In units; nothing that fits has a higher value. */
  readonly bound: number
  readonly isComplete: boolean
  /** States, and cells of the table, of which `CELLS_PER_STATE` count as one state. */
  readonly work: number
}

/** The problem to solve. */
export interface Setting {
  readonly tree: TrimTree
  /** By node: its value in units. */
  readonly units: Float64Array
  /** Whether the units are the values, not rounded up. */
  readonly isExact: boolean
  /** Tokens, including those of required nodes. */
  readonly budget: number
  readonly maxWork: number
}

/**
 * The most valuable choice, or the best found within `maxWork`. The relaxation gives a bound and a
 * first solution; a narrow search makes that better, so that more nodes can be settled; then a full
 * search, and if that takes longer than the table of all budgets would, the table.
 * @param status by node, what is settled; is changed
 */
export function solveExactly(setting: Setting, status: Uint8Array): Solved {
  const { tree, units, isExact, budget, maxWork } = setting
  let kept = keptBy(tree, status, () => false)
  let best = -1
  let bound = Infinity
  let work = 0
  let tolerance = 0
  const solved = () => ({ kept, bound: best + tolerance, isComplete: true, work })

  function improve({ node, base }: Forest, taken: Uint8Array, value: number): void {
    if (value + base <= best) return
    const chosen = new Uint8Array(units.length)
    for (let i = 0; i < node.length; i++) chosen[node[i]!] = taken[i]!
    kept = keptBy(tree, status, i => chosen[i] === 1)
    best = value + base
  }

  for (const stage of ['narrow', 'full', 'table'] as const) {
    const forest = forestOf(tree, units, status, budget)
    const { base } = forest
    // The nodes that every better solution keeps do not fit, so there is no better solution.
    if (forest.budget < 0) return solved()
    const relaxed = relax(forest, isExact)
    const { lattice, main } = relaxed
    improve(forest, relaxed.taken, relaxed.value)
    bound = Math.min(bound, base + roundBound(relaxed.bound, lattice))
    tolerance = lattice.tolerance
    const isProven = () => relaxed.bound < neededFor(best - base, lattice)
    if (isProven()) return solved()

    const others = FACTORS.map(factor => priced(forest, main.price * factor))
    const prices = [main, ...others] as const
    const cells = cellsOf(forest)
    const tableWork = Math.ceil(cells / CELLS_PER_STATE)
    const hasTable = cells <= MAX_CELLS && work + tableWork <= maxWork
    if (stage === 'table') {
      if (!hasTable) break
      // Units are whole numbers.
      const found = solveByTable(forest, prices, best - base + 1)
      work += tableWork
      if (found !== null) improve(forest, found.taken, found.value)
      return solved()
    }
    // The table's work is set aside.
    const left = maxWork - work - (hasTable ? tableWork : 0)
    const found = search(forest, prices, lattice, best - base, {
      maxWork: hasTable ? Math.min(tableWork, left) : left,
      lead: stage === 'full' && hasTable ? LEAD : 1,
      width: stage === 'narrow' ? NARROW : Infinity,
    })
    work += found.work
    if (found.taken !== null) improve(forest, found.taken, found.value)
    if (found.isComplete || isProven()) return solved()
    if (stage === 'full') bound = Math.min(bound, base + found.bound)
    settle(forest, main, relaxed.bound - neededFor(best - base, lattice), status)
  }
  return { kept, bound: Math.max(bound, best), isComplete: false, work }
}

/**
 * Settles the nodes that no better solution keeps, and those that every better solution keeps
 * together with their parent. Two bounds decide. If the bound with the node and all above it kept
 * does not reach the needed value, the node is dropped. If the bound with all above it kept and the
 * node left out does not, the node is kept with its parent. Each bound is the relaxation's, less
 * what that choice loses. O(n)
 * @param slack how far the bound is above what is needed, in units, rounding included
 * @param status by node of the tree; the settled become `JOINED` or `DROPPED`
 * @returns how many were settled
 */
export function settle(
  { size, parent, node }: Forest,
  { gain }: Priced,
  slack: number,
  status: Uint8Array,
): number {
  // By node: the value that the relaxation loses if it is kept with all above it.
  const loss = new Float64Array(size)
  let settled = 0
  for (let i = 0; i < size; i++) {
    const above = parent[i] === -1 ? 0 : loss[parent[i]!]!
    loss[i] = above + Math.max(0, -gain[i]!)
    if (loss[i]! > slack) status[node[i]!] = DROPPED
    else if (above + Math.max(0, gain[i]!) > slack) status[node[i]!] = JOINED
    else continue
    settled++
  }
  return settled
}
