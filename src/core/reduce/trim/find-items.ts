import { ObjectValue, type Value } from '../../json/value.ts'
import { type Totals, totalOf } from '../budget/opening.ts'
import type { PricedNode } from '../budget/priced-node.ts'

/** A list that is what a value is about. */
export interface FoundItems {
  /** Indexes of the members on the way to it. */
  readonly path: readonly number[]
  readonly items: readonly Value[]
}

/** A list of fewer is none to choose from. */
const LEAST_ITEMS = 2
/** Share of the value's tokens from which on the list is what it is about. */
const LEAST_SHARE = 0.5
/** Objects around the list, at most. */
const DEEPEST = 6

/** The list at the root, or in the largest member of the object there, and so on. */
export function findItems(value: Value, root: PricedNode, totals: Totals): FoundItems | null {
  const least = totalOf(root, totals) * LEAST_SHARE
  const path: number[] = []
  let node = root
  let inner = value
  while (node.children !== undefined && totalOf(node, totals) >= least) {
    if (!(inner instanceof ObjectValue)) {
      const items = inner as readonly Value[]
      return items.length < LEAST_ITEMS ? null : { path, items }
    }
    if (path.length === DEEPEST) return null
    const index = largestOf(node.children, totals)
    path.push(index)
    node = node.children[index]!
    inner = inner.values[index]!
  }
  return null
}

function largestOf(children: readonly PricedNode[], totals: Totals): number {
  let largest = 0
  children.forEach((child, index) => {
    if (totalOf(child, totals) > totalOf(children[largest]!, totals)) largest = index
  })
  return largest
}
