import type { Forest } from './forest.ts'

/** A forest's nodes in blocks, by value for cost. */
export interface Blocks {
  /**
   * Nodes block by block, by falling density; parents before children, the nodes of a block
   * together.
   */
  readonly order: Int32Array
  /**
   * Block `b` is `[starts[b], starts[b + 1])` of `order`; its first node is above all others of it.
   */
  readonly starts: Int32Array
  /** Value for a step of cost, by block; falling. */
  readonly densities: Float64Array
}

/**
 * Divides the forest into blocks, so that no block has a denser block below it. For each budget
 * that a number of blocks by falling density uses up exactly, these are the linear relaxation's
 * best choice (Sidney 1975, Horn 1972 for sequences under tree precedence; the argument is the
 * same). From the last node to the first, each block is merged with the densest block below it
 * while that is denser than itself. The blocks below are in pairing heaps. O(n log n)
 */
export function blocksOf({ size, parent, cost: costs, value: values }: Forest): Blocks {
  const cost = costs.slice()
  const value = values.slice()
  const isDenser = (a: number, b: number): boolean => value[a]! * cost[b]! > value[b]! * cost[a]!
  const heaps = createHeaps(size, isDenser)
  // By node: the densest block below it; later, by the first of a block: what is below the block.
  const below = new Int32Array(size).fill(-1)
  const joins = new Int32Array(size).fill(-1)
  for (let i = size - 1; i >= 0; i--) {
    for (let top = below[i]!; top !== -1 && isDenser(top, i); top = below[i]!) {
      below[i] = heaps.meld(heaps.pop(top), below[top]!)
      cost[i]! += cost[top]!
      value[i]! += value[top]!
      joins[top] = i
    }
    const up = parent[i]!
    if (up !== -1) below[up] = heaps.meld(below[up]!, i)
  }
  return gather(
    joins,
    Float64Array.from(cost, (own, i) => value[i]! / own),
  )
}

function gather(joins: Int32Array, densities: Float64Array): Blocks {
  const size = joins.length
  const tops = new Int32Array(size)
  const firsts: number[] = []
  for (let i = 0; i < size; i++) {
    tops[i] = joins[i] === -1 ? i : tops[joins[i]!]!
    if (joins[i] === -1) firsts.push(i)
  }
  firsts.sort((a, b) => densities[b]! - densities[a]! || a - b)
  const rank = new Int32Array(size)
  for (const [b, first] of firsts.entries()) rank[first] = b
  const starts = new Int32Array(firsts.length + 1)
  for (let i = 0; i < size; i++) starts[rank[tops[i]!]! + 1]!++
  for (let b = 0; b < firsts.length; b++) starts[b + 1]! += starts[b]!
  const ends = starts.slice()
  const order = new Int32Array(size)
  for (let i = 0; i < size; i++) order[ends[rank[tops[i]!]!]!++] = i
  return { order, starts, densities: Float64Array.from(firsts, first => densities[first]!) }
}

/**
 * Heaps of numbers below `size`, each in one of them at most, named by their first; -1 is the empty
 * one.
 */
function createHeaps(size: number, isBefore: (a: number, b: number) => boolean) {
  const child = new Int32Array(size).fill(-1)
  const sibling = new Int32Array(size).fill(-1)

  function meld(a: number, b: number): number {
    if (a === -1) return b
    if (b === -1) return a
    const [first, second] = isBefore(b, a) ? [b, a] : [a, b]
    sibling[second] = child[first]!
    child[first] = second
    return first
  }

  /**
   * Takes off the first. Pairs its children, then melds the pairs from the last (Fredman et al.
   * 1986).
   */
  function pop(first: number): number {
    let pairs = -1
    for (let at = child[first]!; at !== -1; ) {
      const second = sibling[at]!
      const rest = second === -1 ? -1 : sibling[second]!
      sibling[at] = -1
      if (second !== -1) sibling[second] = -1
      const pair = meld(at, second)
      sibling[pair] = pairs
      pairs = pair
      at = rest
    }
    let heap = -1
    while (pairs !== -1) {
      const rest = sibling[pairs]!
      sibling[pairs] = -1
      heap = meld(heap, pairs)
      pairs = rest
    }
    child[first] = -1
    return heap
  }

  return { meld, pop }
}
