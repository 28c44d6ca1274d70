import type { Forest } from './forest.ts'
import type { Priced } from './lagrangian.ts'
import { DROPPED, JOINED } from './status.ts'

/**
 * Settles the nodes that every solution better than the best so far keeps, and those that none does: where the bound
 * with the node left out (or kept, with all above it) does not reach what is needed. O(n)
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
  // What keeping costs grows downwards; what leaving out costs is at most what leaving out a node above it does.
  const keeping = new Float64Array(size)
  const leaving = new Float64Array(size)
  let settled = 0
  for (let i = 0; i < size; i++) {
    const up = parent[i]!
    keeping[i] = Math.max(0, -gain[i]!) + (up === -1 ? 0 : keeping[up]!)
    leaving[i] = Math.min(Math.max(0, gain[i]!), up === -1 ? Infinity : leaving[up]!)
    if (keeping[i]! > slack) status[node[i]!] = DROPPED
    else if (leaving[i]! > slack) status[node[i]!] = JOINED
    else continue
    settled++
  }
  return settled
}
