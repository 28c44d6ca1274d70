import type { TrimTree } from '../../../src/core/solvers/tree/tree.ts'

/**
 * The plain left-right dynamic program (Johnson and Niemi 1983): a row of all budgets for every
 * node from the last to the first, O(n B) time and memory for rows that are still needed. The value
 * only, without what is kept.
 */
export function naiveValue({ parent, cost, value }: TrimTree, budget: number): number {
  const size = parent.length
  const children: number[][] = Array.from({ length: size }, () => [])
  for (let i = 1; i < size; i++) children[parent[i]!]!.push(i)
  const order: number[] = []
  const stack = [0]
  for (let i = stack.pop(); i !== undefined; i = stack.pop()) {
    order.push(i)
    stack.push(...children[i]!)
  }
  const sizes = new Int32Array(size).fill(1)
  for (let i = size - 1; i > 0; i--) sizes[parent[i]!]! += sizes[i]!
  // A row is used by all nodes whose subtrees end before it; the last of them is the first in the
  // order.
  const rows = new Map<number, Float64Array>([[size, new Float64Array(budget + 1)]])
  const users = new Int32Array(size + 1)
  for (let at = 0; at < size; at++) users[at + sizes[order[at]!]!]!++
  const free: Float64Array[] = []
  for (let at = size - 1; at >= 0; at--) {
    const i = order[at]!
    const end = at + sizes[i]!
    const taken = rows.get(at + 1)!
    const left = rows.get(end)!
    const row = free.pop() ?? new Float64Array(budget + 1)
    const [own, worth] = [cost[i]!, value[i]!]
    const from = Math.min(own, budget + 1)
    for (let b = 0; b < from; b++) row[b] = left[b]!
    for (let b = from; b <= budget; b++) {
      const [without, withNode] = [left[b]!, taken[b - own]! + worth]
      row[b] = withNode > without ? withNode : without
    }
    users[end]!--
    for (const place of new Set([end, at + 1])) {
      if (users[place] !== 0) continue
      free.push(rows.get(place)!)
      rows.delete(place)
    }
    rows.set(at, row)
  }
  return rows.get(0)![budget]!
}
