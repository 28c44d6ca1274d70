import type { TrimTree } from './tree.ts'

/** Share of the budget that goes to the first children of the root. */
const HEAD = 0.3

/**
 * Keeps the root's first children and its last, with all below them: the first up to 30 % of what
 * is left of the budget, the last up to what that leaves, then more of the first. Where that ends
 * the next of the first is kept in part, from its top. O(n)
 * @param kept what is kept already, closed upwards; is changed
 * @param left tokens left beside that
 */
export function keepHeadAndTail(tree: TrimTree, kept: Uint8Array, left: number): void {
  const { parent, cost } = tree
  const size = parent.length
  // By node: the child of the root that it is below; by child: what is not kept of it costs.
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
