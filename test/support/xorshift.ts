import type { Random } from '../../src/lab/bill/statistics.ts'

/**
 * A xorshift generator, for instances of solvers and texts that are hard on tokenizers. Recorded
 * tables and cases of tests depend on its numbers.
 */
export function createXorshift(seed: number): Random {
  let state = seed | 0 || 1
  return bound => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % bound
  }
}
