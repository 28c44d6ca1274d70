/** The mean of the middle two if there is an even number of them; 0 for none. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? 0)
    : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}

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
