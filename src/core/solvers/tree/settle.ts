import type { Forest } from './forest.ts'
import type { Priced } from './lagrangian.ts'
import { DROPPED, JOINED } from './status.ts'

/**
 * Settles the nodes that no solution better than the best so far keeps, and those that every such
 * solution keeps if it keeps their parent. A node is settled if the bound with the node kept, with
 * all above it, does not reach what is needed, or if that with all above it kept and the node left
 * out does not. The bound loses what the relaxation would have gained by doing otherwise. O(n)
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
  // By node: what keeping it, with all above it, loses.
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
