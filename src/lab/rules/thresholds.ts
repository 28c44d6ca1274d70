/**
 * Own results from which on a rule may change what a class leaves out (SOURCES.md#formats,
 * "call_count").
 */
export const LEAST_RESULTS = 20

/** Share of references from which on R1 wants them. */
export const LEAST_REFERRED = 0.3
const MOST_LRU = 10

/** R1: results that are remembered. @param burst 90th percentile of `repeat_burst` */
export function lruFor(burst: number): number {
  return Math.min(MOST_LRU, 1 + Math.round(burst))
}

/** R4: levels of JSON. @param deepest 95th percentile of levels */
export function depthFor(deepest: number): number {
  return deepest < 3 ? 3 : 5
}

/** R5: the shortest result that is remembered. @param short bytes that a quarter has at most */
export function leastCharsFor(short: number): number {
  return Math.min(500, Math.max(100, short))
}
