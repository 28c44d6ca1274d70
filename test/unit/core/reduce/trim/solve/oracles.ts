import type { TrimTree } from '../../../../../../src/core/solvers/tree/tree.ts'
import {
  type TrimChoice,
  type TrimOptions,
  trimTree,
} from '../../../../../../src/core/solvers/tree/trim-tree.ts'

/** A node as a test spells it. */
export type NodeOf = readonly [parent: number, cost: number, value: number, required?: 'required']

export function treeOf(nodes: readonly NodeOf[]): TrimTree {
  return {
    parent: Int32Array.from(nodes, ([parent]) => parent),
    cost: Int32Array.from(nodes, ([, cost]) => cost),
    value: Float64Array.from(nodes, ([, , value]) => value),
    required: Uint8Array.from(nodes, ([, , , required]) => (required ? 1 : 0)),
  }
}

/** A choice; fails where what is required does not fit. */
export function chosen(tree: TrimTree, budget: number, options?: TrimOptions): TrimChoice {
  const choice = trimTree(tree, budget, options)
  if ('minimum' in choice) throw new Error(`needs ${choice.minimum}`)
  return choice
}

/** The nodes that a choice keeps. */
export function nodesOf({ kept }: TrimChoice): number[] {
  return [...kept.keys()].filter(i => kept[i] === 1)
}

/**
 * The largest value by trying every set that is closed upwards; `null` if none fits.
 * Exponential: for 16 nodes or so.
 */
export function bruteForce(
  { parent, cost, value, required }: TrimTree,
  budget: number,
): number | null {
  const kept = new Uint8Array(parent.length)
  let best: number | null = null
  const decide = (i: number, left: number, worth: number): void => {
    if (i === parent.length) {
      if (best === null || worth > best) best = worth
      return
    }
    const isPossible = i === 0 || kept[parent[i]!] === 1
    if (isPossible && cost[i]! <= left) {
      kept[i] = 1
      decide(i + 1, left - cost[i]!, worth + value[i]!)
      kept[i] = 0
    }
    if (i > 0 && required?.[i] !== 1) decide(i + 1, left, worth)
  }
  decide(0, budget, 0)
  return best
}

/**
 * What is wrong with a choice, beside that there may be a better one; an empty list if nothing is.
 */
export function faultsOf(tree: TrimTree, budget: number, choice: TrimChoice): string[] {
  const { parent, cost, value, required } = tree
  const { kept } = choice
  const faults: string[] = []
  let [spent, worth] = [0, 0]
  if (kept.length !== parent.length) faults.push('not one flag a node')
  for (let i = 0; i < kept.length; i++) {
    if (kept[i] !== 0 && kept[i] !== 1) faults.push(`kept[${i}] is ${kept[i]}`)
    if (kept[i] === 0 && (i === 0 || required?.[i] === 1)) faults.push(`node ${i} is required`)
    if (kept[i] === 0) continue
    if (i > 0 && kept[parent[i]!] === 0) faults.push(`node ${i} hangs on nothing`)
    spent += cost[i]!
    worth += value[i]!
  }
  if (spent !== choice.cost || spent > budget) faults.push(`cost ${spent}`)
  if (Math.abs(worth - choice.value) > 1e-12 * worth) faults.push(`value ${worth}`)
  if (choice.upperBound < choice.value) faults.push('the bound is below the value')
  const gap = choice.upperBound === 0 ? 0 : 1 - choice.value / choice.upperBound
  if (Math.abs(gap - choice.gap) > 1e-12) faults.push(`gap ${gap}`)
  if (choice.optimal && choice.gap > 1e-9) faults.push('optimal, with a gap')
  return faults
}
