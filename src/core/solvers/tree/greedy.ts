import type { Blocks } from './blocks.ts'
import type { Forest } from './forest.ts'

/** Nodes of a forest that are taken, closed upwards. */
export interface Taken {
  readonly taken: Uint8Array
  /** In units. */
  readonly value: number
  /** In steps; not negative. */
  readonly left: number
}

/** The density of the first block that does not fit; 0 if all do. */
export function breakPrice({ cost, budget }: Forest, { order, starts, densities }: Blocks): number {
  let left = budget
  for (let b = 0; b < densities.length; b++) {
    for (let k = starts[b]!; k < starts[b + 1]!; k++) left -= cost[order[k]!]!
    if (left < 0) return densities[b]!
  }
  return 0
}

/**
 * Blocks by falling density as far as they fit, then single nodes in the same order; or, if that
 * has a higher value, the most valuable single path from the top, and nodes in that order. O(n)
 */
export function takeGreedily(forest: Forest, blocks: Blocks): Taken {
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
  let { left, value: worth } = sums
  for (const i of order) {
    const up = parent[i]!
    if (taken[i] === 1 || cost[i]! > left || (up !== -1 && taken[up] === 0)) continue
    taken[i] = 1
    left -= cost[i]!
    worth += value[i]!
  }
  return { taken, value: worth, left }
}
