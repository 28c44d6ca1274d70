/** An interval that holds a sum in 95 % of samples. */
export interface Interval {
  readonly low: number
  readonly high: number
}

const REDRAWS = 2_000
const TAIL = 0.025

/**
 * The 95 % interval of a sum over conversations, by the percentiles of redrawn samples (Efron,
 * 1979). Conversations and not results are redrawn, since results of one conversation are alike.
 * @param values one a conversation @param seed gives the same interval for the same values
 */
export function intervalOfSum(values: readonly number[], seed: number): Interval {
  if (values.length === 0) return { low: 0, high: 0 }
  const random = createRandom(seed)
  const sums = new Float64Array(REDRAWS)
  for (let draw = 0; draw < REDRAWS; draw++) {
    let sum = 0
    for (let i = 0; i < values.length; i++) sum += values[Math.floor(random() * values.length)]!
    sums[draw] = sum
  }
  sums.sort()
  const tail = Math.floor(TAIL * REDRAWS)
  return { low: sums[tail]!, high: sums[REDRAWS - 1 - tail]! }
}

/** Numbers from 0 up to 1 (mulberry32, public domain). The same seed gives the same numbers. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
