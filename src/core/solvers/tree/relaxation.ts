import { type Lattice, latticeOf } from '../shared/lattice.ts'
import { type Blocks, blocksOf } from './blocks.ts'
import type { Forest } from './forest.ts'
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
 * The relaxation by blocks. Its optimum is the Lagrangian's at the density of the block that does
 * not fit as a whole. The bound is valid for that price, whatever rounding led to it (weak
 * duality). O(n log n)
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

/** Nodes of a forest that are taken, closed upwards. */
export interface Taken {
  readonly taken: Uint8Array
  /** In units. */
  readonly value: number
  /** In steps; not negative. */
  readonly left: number
}

/** The density of the first block that does not fit; 0 if all do. */
function breakPrice({ cost, budget }: Forest, { order, starts, densities }: Blocks): number {
  let left = budget
  for (let b = 0; b < densities.length; b++) {
    for (let k = starts[b]!; k < starts[b + 1]!; k++) left -= cost[order[k]!]!
    if (left < 0) return densities[b]!
  }
  return 0
}

/**
 * Takes blocks by falling density as far as they fit, then single nodes in the same order. If the
 * most valuable single path from the top, with single nodes after it, has a higher value, takes
 * that. O(n)
 */
function takeGreedily(forest: Forest, blocks: Blocks): Taken {
  const dense = fill(forest, blocks, takeBlocks(forest, blocks))
  const single = fill(forest, blocks, takeBestPath(forest))
  return single.value > dense.value ? single : dense
}

function takeBlocks(forest: Forest, { order, starts, densities }: Blocks): Taken {
  const taken = new Uint8Array(forest.size)
  let left = forest.budget
  let value = 0
  for (let b = 0; b < densities.length; b++) {
    const up = forest.parent[order[starts[b]!]!]!
    if (up !== -1 && taken[up] === 0) continue
    let cost = 0
    for (let k = starts[b]!; k < starts[b + 1]!; k++) cost += forest.cost[order[k]!]!
    if (cost > left) continue
    left -= cost
    for (let k = starts[b]!; k < starts[b + 1]!; k++) {
      taken[order[k]!] = 1
      value += forest.value[order[k]!]!
    }
  }
  return { taken, value, left }
}

function takeBestPath({ size, parent, cost, value, budget }: Forest): Taken {
  const taken = new Uint8Array(size)
  const sums = new Float64Array(size)
  let best = -1
  for (let i = 0; i < size; i++) {
    const up = parent[i]!
    sums[i] = value[i]! + (up === -1 ? 0 : sums[up]!)
    if (best === -1 || sums[i]! > sums[best]!) best = i
  }
  let left = budget
  for (let i = best; i !== -1; i = parent[i]!) {
    taken[i] = 1
    left -= cost[i]!
  }
  return { taken, value: best === -1 ? 0 : sums[best]!, left }
}

/** Adds single nodes whose parents are taken, in the order of their blocks. */
function fill(
  { parent, cost, value }: Forest,
  { order }: Blocks,
  { taken, ...sums }: Taken,
): Taken {
  let { left, value: total } = sums
  for (const i of order) {
    const up = parent[i]!
    if (taken[i] === 1 || cost[i]! > left || (up !== -1 && taken[up] === 0)) continue
    taken[i] = 1
    left -= cost[i]!
    total += value[i]!
  }
  return { taken, value: total, left }
}
