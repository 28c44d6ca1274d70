import { checkTree, type TrimTree } from '../tree.ts'

/** Ways to choose what is kept. */
export type TrimAlgorithm = 'exact' | 'greedy' | 'fair' | 'head_tail'

/** What is kept of a tree. */
export interface TrimChoice {
  /** By node: 1 where it is kept. The root is, and with every node its parent. */
  readonly kept: Uint8Array
  /** Sum of the kept costs, in tokens; within the budget. */
  readonly cost: number
  /** Sum of the kept values. */
  readonly value: number
  /** Nothing that fits is worth more. Never below `value`. */
  readonly upperBound: number
  /** Proven: nothing that fits is worth more, but for rounding (docs/trim-tree.md). */
  readonly optimal: boolean
  /** (upperBound - value) / upperBound, from 0 to 1. */
  readonly gap: number
  readonly algorithm: TrimAlgorithm
  /** Work that was done: states of the dynamic program. */
  readonly work: number
}

export interface TrimOptions {
  readonly algorithm?: TrimAlgorithm | 'auto'
  /** States after which the exact algorithm stops with the best so far. */
  readonly maxWork?: number
}

/**
 * Chooses what is kept of a tree within a budget of tokens, worth as much as possible.
 * @returns `minimum`, the tokens of what must be kept, where that is above the budget
 * @throws RangeError where the tree or the budget (an integer from 0 to 2^53 - 1) is none
 */
export function trimTree(
  tree: TrimTree,
  budget: number,
  _options: TrimOptions = {},
): TrimChoice | { readonly minimum: number } {
  checkTree(tree)
  if (!(Number.isSafeInteger(budget) && budget >= 0)) {
    throw new RangeError('budget: expected an integer in [0, 2^53)')
  }
  const { parent, cost, value, required } = tree
  const size = parent.length
  const kept = new Uint8Array(size)
  kept[0] = 1
  for (let i = size - 1; i > 0; i--) {
    if (required?.[i] === 1 || kept[i] === 1) {
      kept[i] = 1
      kept[parent[i]!] = 1
    }
  }
  let spent = 0
  let worth = 0
  let total = 0
  for (let i = 0; i < size; i++) {
    total += value[i]!
    if (kept[i] === 1) spent += cost[i]!
  }
  if (spent > budget) return { minimum: spent }
  for (let i = 1; i < size; i++) {
    if (kept[i] === 0 && kept[parent[i]!] === 1 && spent + cost[i]! <= budget) {
      kept[i] = 1
      spent += cost[i]!
    }
  }
  for (let i = 0; i < size; i++) if (kept[i] === 1) worth += value[i]!
  const gap = total === 0 ? 0 : (total - worth) / total
  return {
    kept,
    cost: spent,
    value: worth,
    upperBound: total,
    optimal: worth >= total,
    gap,
    algorithm: 'greedy',
    work: 0,
  }
}
