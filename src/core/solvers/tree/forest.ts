import { greatestDivisor } from '../shared/lattice.ts'
import { DROPPED, OPEN } from './status.ts'
import type { TrimTree } from './tree.ts'

/**
 * The nodes that are not decided yet, in depth-first order, parents before children. Nodes that are
 * kept with their parent are merged into it. Nodes that are always kept are left out. Every cost is
 * positive.
 */
export interface Forest {
  readonly size: number
  /** By node of the forest: its parent in it, or -1. */
  readonly parent: Int32Array
  /** The node's descendants are those after it, up to here. */
  readonly end: Int32Array
  /** In `step`s of tokens. */
  readonly cost: Float64Array
  /** In units. */
  readonly value: Float64Array
  /** By node of the forest: the node of the tree. */
  readonly node: Int32Array
  /** The budget that the always kept nodes leave, in steps. */
  readonly budget: number
  /** The value of what is always kept, in units. */
  readonly base: number
}

/**
 * Gathers the open nodes of a tree. Marks nodes as dropped if they and all above them do not fit,
 * or if they and all below them have no value. O(n) @param units by node: its value in units @param
 * budget tokens, including those of required nodes
 */
export function forestOf(
  tree: TrimTree,
  units: Float64Array,
  status: Uint8Array,
  budget: number,
): Forest {
  const { parent, cost } = tree
  const total = parent.length
  // By node: the open node that it comes with; -1 with the root.
  const top = new Int32Array(total).fill(-1)
  const ownCost = new Float64Array(total)
  const ownValue = new Float64Array(total)
  let left = budget
  let base = 0
  for (let i = 0; i < total; i++) {
    if (i > 0 && status[parent[i]!] === DROPPED) status[i] = DROPPED
    if (status[i] === DROPPED) continue
    top[i] = status[i] === OPEN ? i : i === 0 ? -1 : top[parent[i]!]!
    const owner = top[i]!
    if (owner !== -1) {
      ownCost[owner]! += cost[i]!
      ownValue[owner]! += units[i]!
    } else {
      left -= cost[i]!
      base += units[i]!
    }
  }
  const above = (i: number): number => (i === 0 ? -1 : top[parent[i]!]!)
  dropHopeless(above, ownCost, ownValue, status, left)
  return arrange({ above, ownCost, ownValue, status, left, base })
}

function dropHopeless(
  above: (node: number) => number,
  cost: Float64Array,
  value: Float64Array,
  status: Uint8Array,
  left: number,
): void {
  const path = new Float64Array(status.length)
  const sums = value.slice()
  for (let i = 0; i < status.length; i++) {
    if (status[i] !== OPEN) continue
    const up = above(i)
    path[i] = cost[i]! + (up === -1 ? 0 : path[up]!)
    if (path[i]! > left) status[i] = DROPPED
  }
  for (let i = status.length - 1; i > 0; i--) {
    if (status[i] !== OPEN) continue
    const up = above(i)
    if (sums[i] === 0) status[i] = DROPPED
    else if (up !== -1) sums[up]! += sums[i]!
  }
}

interface Parts {
  readonly above: (node: number) => number
  readonly ownCost: Float64Array
  readonly ownValue: Float64Array
  readonly status: Uint8Array
  readonly left: number
  readonly base: number
}

/**
 * Puts the open nodes into depth-first order. Of siblings the one with the most nodes below it
 * comes last. The search sets a list aside for every node that has siblings after it, so it never
 * sets aside more than log2(n) lists.
 */
function arrange({ above, ownCost, ownValue, status, left, base }: Parts): Forest {
  const total = status.length
  const sizes = new Int32Array(total)
  const heavy = new Int32Array(total + 1).fill(-1)
  let size = 0
  let step = 0
  for (let i = total - 1; i >= 0; i--) {
    if (status[i] !== OPEN) continue
    size++
    sizes[i]!++
    if (step !== 1) step = greatestDivisor(step, ownCost[i]!)
    const up = above(i)
    if (up !== -1) sizes[up]! += sizes[i]!
    const slot = up + 1
    if (heavy[slot] === -1 || sizes[i]! >= sizes[heavy[slot]!]!) heavy[slot] = i
  }
  if (step === 0) step = 1
  const parent = new Int32Array(size)
  const end = new Int32Array(size)
  const cost = new Float64Array(size)
  const value = new Float64Array(size)
  const node = new Int32Array(size)
  const place = new Int32Array(total)
  // By node, after -1: the place of its next child.
  const next = new Int32Array(total + 1)
  for (let i = 0; i < total; i++) {
    if (status[i] !== OPEN) continue
    const up = above(i)
    const last = up === -1 ? size : place[up]! + sizes[up]!
    const isHeavy = heavy[up + 1] === i
    const at = isHeavy ? last - sizes[i]! : next[up + 1]!
    if (!isHeavy) next[up + 1]! += sizes[i]!
    place[i] = at
    next[i + 1] = at + 1
    parent[at] = up === -1 ? -1 : place[up]!
    end[at] = at + sizes[i]!
    cost[at] = ownCost[i]! / step
    value[at] = ownValue[i]!
    node[at] = i
  }
  return { size, parent, end, cost, value, node, budget: Math.floor(left / step), base }
}
