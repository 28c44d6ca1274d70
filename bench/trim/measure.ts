import type { TrimTree } from '../../src/core/solvers/tree/tree.ts'
import {
  type TrimAlgorithm,
  type TrimChoice,
  trimTree,
} from '../../src/core/solvers/tree/trim-tree.ts'
import { median, percentile } from '../support/statistics.ts'
import { type Family, makeTree } from './families.ts'
import { naiveValue } from './naive.ts'

/**
 * One family and size: the exact algorithm, and the plain dynamic program right after it on the
 * same tree.
 */
export interface ExactRow {
  readonly family: Family
  readonly nodes: number
  readonly medianMs: number
  readonly p95Ms: number
  /** `null` if it was not asked. */
  readonly naiveMs: number | null
  readonly proven: number
  readonly count: number
  readonly largestGap: number
  readonly medianWork: number
}

/** @throws Error if a choice is proven and the plain dynamic program finds a better one */
export function measureExact(
  family: Family,
  nodes: number,
  budget: number,
  { count, withNaive }: { readonly count: number; readonly withNaive: boolean },
): ExactRow {
  const runs = Array.from({ length: count }, (_, seed) => {
    const tree = makeTree(family, nodes, seed)
    const [ms, choice] = timed(() => choose(tree, budget))
    if (!withNaive) return { ms, choice, naive: 0 }
    const [naive, value] = timed(() => naiveValue(tree, budget))
    if (choice.optimal && choice.value < value * (1 - 1e-9)) throw new Error(`${family}, ${seed}`)
    return { ms, choice, naive }
  })
  const times = runs.map(({ ms }) => ms)
  return {
    family,
    nodes,
    medianMs: median(times),
    p95Ms: percentile(times, 0.95),
    naiveMs: withNaive ? median(runs.map(({ naive }) => naive)) : null,
    proven: runs.filter(({ choice }) => choice.optimal).length,
    count,
    largestGap: Math.max(...runs.map(({ choice }) => choice.gap)),
    medianWork: median(runs.map(({ choice }) => choice.work)),
  }
}

/** What a heuristic keeps of the best, or of the bound where the best is not proven. */
export interface ShareRow {
  readonly algorithm: TrimAlgorithm
  readonly family: Family
  readonly nodes: number
  readonly shares: readonly number[]
  readonly medianMs: number
  readonly largestGap: number
}

/** The heuristics over the same trees. */
export function measureShares(
  family: Family,
  nodes: number,
  budget: number,
  count: number,
): ShareRow[] {
  const trees = Array.from({ length: count }, (_, seed) => {
    const tree = makeTree(family, nodes, seed)
    return { tree, best: choose(tree, budget).upperBound }
  })
  return (['greedy', 'fair', 'head_tail'] as const).map(algorithm => {
    const runs = trees.map(({ tree, best }) => {
      const [ms, choice] = timed(() => choose(tree, budget, algorithm))
      return { ms, share: choice.value / best, gap: choice.gap }
    })
    return {
      algorithm,
      family,
      nodes,
      shares: runs.map(({ share }) => share),
      medianMs: median(runs.map(({ ms }) => ms)),
      largestGap: Math.max(...runs.map(({ gap }) => gap)),
    }
  })
}

function choose(tree: TrimTree, budget: number, algorithm?: TrimAlgorithm): TrimChoice {
  const choice = trimTree(tree, budget, algorithm === undefined ? {} : { algorithm })
  if ('minimum' in choice || choice.cost > budget) throw new Error('not a choice')
  return choice
}

function timed<T>(run: () => T): [ms: number, result: T] {
  const started = performance.now()
  const result = run()
  return [performance.now() - started, result]
}
