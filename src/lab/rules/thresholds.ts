import type { Profile } from '../../core/pipeline/profile/resolve.ts'

/**
 * Own results from which on a rule may change what a class leaves out (SOURCES.md#formats,
 * "call_count").
 */
export const LEAST_RESULTS = 20

/** Share of references from which on R1 wants them. */
const LEAST_REFERRED = 0.3
const MOST_LRU = 10

/**
 * R1: references on, and a longer memory, if results come again.
 * @param share of results that do @param burst 90th percentile of `repeat_burst`
 */
export function rememberMore({ dedup }: Profile, share: number, burst: number | null) {
  if (share < LEAST_REFERRED) return []
  const lru = burst === null ? 0 : Math.min(MOST_LRU, 1 + Math.round(burst))
  return [
    ...(dedup.exact ? [] : [{ key: 'dedup_enabled', to: true } as const]),
    ...(lru > dedup.lruSize ? [{ key: 'lru_size', to: lru } as const] : []),
  ]
}

/** R4: levels of JSON. @param deepest 95th percentile of levels */
export function levelsFor(deepest: number): number {
  return deepest < 3 ? 3 : 5
}

/** R5: the shortest result that is remembered. @param short bytes that a quarter has at most */
export function leastCharsFor(short: number): number {
  return Math.min(500, Math.max(100, short))
}
