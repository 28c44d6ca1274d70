import { neededFor, roundBound } from '../shared/lattice.ts'
import type { Setting } from './exact.ts'
import { forestOf } from './forest.ts'
import { relax } from './relaxation.ts'
import { keptBy } from './status.ts'
import type { TrimTree } from './tree.ts'

/** The nodes that a heuristic keeps, and the relaxation's bound. */
export interface Kept {
  readonly kept: Uint8Array
  /** In units; nothing that fits has a higher value. */
  readonly bound: number
  readonly isOptimal: boolean
}

/**
 * Keeps the nodes that one of the heuristics chooses. The bound is the relaxation's. O(n log n)
 * @param status by node, the settled ones; is changed
 */
export function keepBy(
  algorithm: 'greedy' | 'fair' | 'head_tail',
  { tree, units, isExact, budget }: Setting,
  status: Uint8Array,
): Kept {
  let kept = keptBy(tree, status, () => false)
  const forest = forestOf(tree, units, status, budget)
  const relaxed = relax(forest, isExact)
  if (algorithm === 'greedy') {
    const chosen = new Uint8Array(kept.length)
    for (let i = 0; i < forest.size; i++) chosen[forest.node[i]!] = relaxed.taken[i]!
    kept = keptBy(tree, status, i => chosen[i] === 1)
  } else {
    let left = budget
    for (let i = 0; i < kept.length; i++) if (kept[i] === 1) left -= tree.cost[i]!
    if (algorithm === 'fair') keepFairly(tree, kept, left)
    else keepHeadAndTail(tree, kept, left)
  }
  let value = -forest.base
  for (let i = 0; i < kept.length; i++) if (kept[i] === 1) value += units[i]!
  return {
    kept,
    bound: forest.base + roundBound(relaxed.bound, relaxed.lattice),
    isOptimal: relaxed.bound < neededFor(value, relaxed.lattice),
  }
}

/** Share of the budget that goes to the first children of the root. */
const HEAD = 0.3

/**
 * Keeps the root's first children and its last, with all below them: the first children up to 30 %
 * of the rest of the budget, the last ones up to what remains, then more of the first. The next of
 * the first children is kept in part, from its top. O(n) @param kept the nodes that are kept
 * already, closed upwards; is changed
 * @param left tokens left beside that
 */
function keepHeadAndTail(tree: TrimTree, kept: Uint8Array, left: number): void {
  const { parent, cost } = tree
  const size = parent.length
  // By node: the child of the root that it is below. By child: the cost of its nodes that are not
  // kept.
  const child = new Int32Array(size)
  const rest = new Float64Array(size)
  const children: number[] = []
  for (let i = 1; i < size; i++) {
    child[i] = parent[i] === 0 ? i : child[parent[i]!]!
    if (parent[i] === 0) children.push(i)
    if (kept[i] === 0) rest[child[i]!]! += cost[i]!
  }
  const isWhole = new Uint8Array(size)
  let head = 0
  let tail = children.length
  let remaining = left

  function keepFirst(share: number): void {
    let room = share
    for (; head < tail && rest[children[head]!]! <= room; head++) {
      isWhole[children[head]!] = 1
      room -= rest[children[head]!]!
      remaining -= rest[children[head]!]!
    }
  }

  keepFirst(Math.floor(left * HEAD))
  for (; tail > head && rest[children[tail - 1]!]! <= remaining; tail--) {
    isWhole[children[tail - 1]!] = 1
    remaining -= rest[children[tail - 1]!]!
  }
  keepFirst(remaining)
  const broken = head < tail ? children[head]! : -1
  for (let i = 1; i < size; i++) {
    if (kept[i] === 1) continue
    if (isWhole[child[i]!] === 1) kept[i] = 1
    else if (child[i] === broken && kept[parent[i]!] === 1 && cost[i]! <= remaining) {
      kept[i] = 1
      remaining -= cost[i]!
    }
  }
}

/**
 * Rounds after which the rest of the budget stays unused; each round keeps at least one node more.
 */
const MAX_ROUNDS = 8

/**
 * Shares the budget down the tree in proportion to value, as hierarchical fair queueing shares a
 * link (Bennett and Zhang 1996): a node pays for itself, and divides the rest of its share among
 * its children by the value of all nodes below each. A child gets no more than it can use, and what
 * it does not use goes to later children. Children that need the least for their value come first,
 * so that their unused rest is known. No node is kept in part: if its share does not pay for it, it
 * borrows from later ones. What the whole tree does not use is shared again. O(n log n) a round
 * @param kept the nodes that are kept already, closed upwards; is changed
 * @param left tokens left beside that
 */
function keepFairly(tree: TrimTree, kept: Uint8Array, left: number): void {
  let rest = left
  for (let round = 0; round < MAX_ROUNDS && rest > 0; round++) {
    const used = shareOnce(tree, kept, rest)
    if (used === 0) return
    rest -= used
  }
}

/** Tokens and value of the nodes below others, and the children of each. */
interface Queues {
  /** By node: the cost of what is not kept of it and of all below it. */
  readonly need: Float64Array
  /** By node: the value of what is not kept of it and all below it. */
  readonly weight: Float64Array
  /**
   * The children of node `i` are `[starts[i], starts[i + 1])` of `children`, by rising need for
   * their weight.
   */
  readonly starts: Int32Array
  readonly children: Int32Array
  /** By place in `children`: weight of that child and of its later siblings. */
  readonly weights: Float64Array
}

function queuesOf({ parent, cost, value }: TrimTree, kept: Uint8Array): Queues {
  const size = parent.length
  const need = new Float64Array(size)
  const weight = new Float64Array(size)
  const starts = new Int32Array(size + 1)
  for (let i = size - 1; i >= 0; i--) {
    if (kept[i] === 0) {
      need[i]! += cost[i]!
      weight[i]! += value[i]!
    }
    if (i === 0) break
    need[parent[i]!]! += need[i]!
    weight[parent[i]!]! += weight[i]!
    starts[parent[i]! + 1]!++
  }
  for (let i = 0; i < size; i++) starts[i + 1]! += starts[i]!
  const ratio = need.map((own, i) => (own === 0 ? 0 : own / weight[i]!))
  const order = Int32Array.from({ length: size - 1 }, (_, i) => i + 1)
  order.sort((a, b) => compare(ratio[a]!, ratio[b]!) || a - b)
  const children = new Int32Array(size)
  const ends = starts.slice()
  for (const i of order) children[ends[parent[i]!]!++] = i
  const weights = new Float64Array(size)
  for (let i = 0; i < size; i++) {
    let sum = 0
    for (let k = starts[i + 1]! - 1; k >= starts[i]!; k--) weights[k] = sum += weight[children[k]!]!
  }
  return { need, weight, starts, children, weights }
}

/** If both are infinite, their difference would not be a number. */
function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Walks the tree once, each node with its share. Gives the tokens that were used. */
function shareOnce(tree: TrimTree, kept: Uint8Array, budget: number): number {
  const { parent, cost } = tree
  const { need, weight, starts, children, weights } = queuesOf(tree, kept)
  // By node on the way: what is left of its share, and the next of its children.
  const room = new Float64Array(parent.length)
  const next = starts.slice()
  room[0] = budget
  let at = 0
  for (;;) {
    const k = next[at]!
    if (k < starts[at + 1]!) {
      next[at] = k + 1
      const child = children[k]!
      const ratio = weights[k]! > 0 ? weight[child]! / weights[k]! : 0
      const own = kept[child] === 1 ? 0 : cost[child]!
      if (own > room[at]! || (own > 0 && weight[child] === 0)) continue
      const share = Math.max(own, Math.min(need[child]!, Math.floor(room[at]! * ratio)))
      kept[child] = 1
      room[at]! -= share
      room[child] = share - own
      at = child
    } else if (at === 0) return budget - room[0]!
    else {
      // The unused part goes back to its parent.
      room[parent[at]!]! += room[at]!
      at = parent[at]!
    }
  }
}
