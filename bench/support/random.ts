/** Whole numbers from 0 up to a bound (exclusive). */
export type Random = (below: number) => number

/** A small linear congruential generator, so that runs compare (Numerical Recipes' constants). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

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
