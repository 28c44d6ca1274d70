import type { TrimTree } from '../../solvers/tree/tree.ts'
import { type TrimAlgorithm, type TrimChoice, trimTree } from '../../solvers/tree/trim-tree.ts'
import type { Plan, Planner } from '../budget/plan.ts'
import type { KeptPart } from '../budget/priced-node.ts'

/** Returns the kept part of a document by the kept nodes of its tree; `null` for nothing. */
export type KeptOf = (kept: Uint8Array) => KeptPart | null

const NOTHING: KeptPart = { kind: 'some', children: [] }

/**
 * Plans over a tree of parts. Unlike those over a whole document they may keep all of it, because a
 * tree may be of some items or of a level only.
 * @param keptOf of the whole document
 */
export function createTreePlanner(
  tree: TrimTree,
  keptOf: KeptOf,
  algorithm: TrimAlgorithm | 'auto',
): Planner {
  const total = tree.cost.reduce((sum, cost) => sum + cost, 0)
  const wholeValue = tree.value.reduce((sum, value) => sum + value, 0)

  function choose(budget: number): TrimChoice {
    const choice = trimTree(tree, budget, { algorithm })
    // The required parts take more than the budget. The written text shows by how much.
    return 'minimum' in choice ? (trimTree(tree, choice.minimum) as TrimChoice) : choice
  }

  return {
    most: total,
    plan(budget): Plan {
      const { kept, cost, value, upperBound, optimal } = choose(Math.max(0, Math.floor(budget)))
      return {
        kept: keptOf(kept) ?? NOTHING,
        cost,
        value,
        wholeValue,
        upperBound,
        optimal,
        classes: tree.parent.length,
      }
    },
  }
}
