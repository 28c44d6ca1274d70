import { neededFor, roundBound } from '../shared/lattice.ts'
import type { Setting } from './exact.ts'
import { keepFairly } from './fair.ts'
import { forestOf } from './forest.ts'
import { keepHeadAndTail } from './head-tail.ts'
import { relax } from './relaxation.ts'
import { keptBy } from './status.ts'

/** What a heuristic keeps, and what the relaxation proves of it. */
export interface Kept {
  readonly kept: Uint8Array
  /** In units; nothing that fits has a higher value. */
  readonly bound: number
  readonly isOptimal: boolean
}

/**
 * Keeps what one of the heuristics chooses. The bound is the relaxation's. O(n log n)
 * @param status by node, what needs no choice; is changed
 */
export function keepBy(
  algorithm: 'greedy' | 'fair' | 'head_tail',
  { tree, units, isExact, budget }: Setting,
  status: Uint8Array,
): Kept {
  let kept = keptBy(tree, status, () => false)
  const forest = forestOf(tree, units, status, budget)
  const relaxed = relax(forest, isExact)
  if (algorithm === 'greedy') {
    const chosen = new Uint8Array(kept.length)
    for (let i = 0; i < forest.size; i++) chosen[forest.node[i]!] = relaxed.taken[i]!
    kept = keptBy(tree, status, i => chosen[i] === 1)
  } else {
    let left = budget
    for (let i = 0; i < kept.length; i++) if (kept[i] === 1) left -= tree.cost[i]!
    if (algorithm === 'fair') keepFairly(tree, kept, left)
    else keepHeadAndTail(tree, kept, left)
  }
  let value = -forest.base
  for (let i = 0; i < kept.length; i++) if (kept[i] === 1) value += units[i]!
  return {
    kept,
    bound: forest.base + roundBound(relaxed.bound, relaxed.lattice),
    isOptimal: relaxed.bound < neededFor(value, relaxed.lattice),
  }
}
