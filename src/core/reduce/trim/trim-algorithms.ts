import type { TrimAlgorithm } from '../../solvers/tree/trim-tree.ts'

/**
 * How a tree is solved, by the names that a configuration gives; `auto` is exact within a count of
 * work.
 */
export const TRIM_ALGORITHMS = [
  'auto',
  'exact',
  'greedy',
  'fair',
  'head_tail',
] as const satisfies readonly (TrimAlgorithm | 'auto')[]
