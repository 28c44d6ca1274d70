import type { TrimTree } from './tree.ts'

/** What is known of a node before anything is chosen. */
export const OPEN = 0
/** Kept wherever its parent is. */
export const JOINED = 1
/** Never kept, nor anything below it. */
export const DROPPED = 2

/**
 * By node, what needs no choice: what is required, with all above it, and what costs nothing is
 * `JOINED`; what cannot be paid with all above it is `DROPPED`. With the tokens of what is
 * required, possibly above the budget. O(n)
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
  // By node: what it costs with all above it that is not required.
  const path = new Float64Array(parent.length)
  for (let i = 0; i < parent.length; i++) {
    if (status[i] === JOINED) continue
    path[i] = path[parent[i]!]! + cost[i]!
    if (minimum + path[i]! > budget) status[i] = DROPPED
    else if (cost[i] === 0) status[i] = JOINED
  }
  return { status, minimum }
}

/** The mask of what is kept, by a status and a mask of the chosen among the open nodes. */
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
 * Takes out of a mask what costs something and brings nothing: nodes without value on which no kept
 * node hangs.
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
  // What costs nothing may have lost its parent.
  for (let i = 1; i < kept.length; i++) if (kept[parent[i]!] === 0) kept[i] = 0
}
