import type { TrimTree } from './tree.ts'

/** The status of a node that is not settled. */
export const OPEN = 0
/** The node is kept if its parent is. */
export const JOINED = 1
/** Neither the node nor any node below it is kept. */
export const DROPPED = 2

/**
 * Settles nodes that need no choice. Required nodes with all above them, and nodes that cost
 * nothing, are `JOINED`. Nodes that do not fit together with all above them are `DROPPED`. Also
 * returns the tokens of the required nodes, which may be above the budget. O(n)
 */
export function statusOf(
  { parent, cost, required }: TrimTree,
  budget: number,
): { readonly status: Uint8Array; readonly minimum: number } {
  const status = new Uint8Array(parent.length)
  let minimum = 0
  for (let i = parent.length - 1; i >= 0; i--) {
    if (i === 0 || required?.[i] === 1) status[i] = JOINED
    if (status[i] !== JOINED) continue
    minimum += cost[i]!
    if (i > 0) status[parent[i]!] = JOINED
  }
  // By node: its cost and that of all nodes above it that are not required.
  const path = new Float64Array(parent.length)
  for (let i = 0; i < parent.length; i++) {
    if (status[i] === JOINED) continue
    path[i] = path[parent[i]!]! + cost[i]!
    if (minimum + path[i]! > budget) status[i] = DROPPED
    else if (cost[i] === 0) status[i] = JOINED
  }
  return { status, minimum }
}

/** The mask of the kept nodes, by their status and by the choice among the open nodes. */
export function keptBy(
  { parent }: TrimTree,
  status: Uint8Array,
  isChosen: (node: number) => boolean,
): Uint8Array {
  const kept = new Uint8Array(parent.length)
  kept[0] = 1
  for (let i = 1; i < kept.length; i++) {
    if (kept[parent[i]!] === 0) continue
    if (status[i] === JOINED || (status[i] === OPEN && isChosen(i))) kept[i] = 1
  }
  return kept
}

/**
 * Removes nodes from a mask that cost something and add no value: nodes without value that have no
 * kept node below them.
 */
export function dropWorthless({ parent, cost, value, required }: TrimTree, kept: Uint8Array): void {
  const isNeeded = new Uint8Array(kept.length)
  for (let i = kept.length - 1; i > 0; i--) {
    if (kept[i] === 0) continue
    if (isNeeded[i] === 0 && cost[i]! > 0 && value[i] === 0 && required?.[i] !== 1) kept[i] = 0
    else if (cost[i]! > 0 || value[i]! > 0 || isNeeded[i] === 1 || required?.[i] === 1) {
      isNeeded[parent[i]!] = 1
    }
  }
  // A node that costs nothing may have lost its parent.
  for (let i = 1; i < kept.length; i++) if (kept[parent[i]!] === 0) kept[i] = 0
}
