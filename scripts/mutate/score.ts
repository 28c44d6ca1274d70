/**
 * Shares of mutants that tests notice, with the interval that holds the true share in 95 of 100
 * samples.
 */
export interface Score {
  readonly noticed: number
  readonly tried: number
  readonly percent: number
  readonly low: number
  readonly high: number
}

/** Standard normal quantile for 95 %. */
const Z = 1.959964

/** Wilson's score interval (Wilson 1927), in percent. */
export function scoreOf(noticed: number, tried: number): Score {
  if (tried === 0) return { noticed, tried, percent: 0, low: 0, high: 100 }
  const share = noticed / tried
  const spread = Z ** 2 / tried
  const middle = share + spread / 2
  const radius = Z * Math.sqrt((share * (1 - share) + spread / 4) / tried)
  const toPercent = (value: number) => (100 * value) / (1 + spread)
  return {
    noticed,
    tried,
    percent: 100 * share,
    low: toPercent(middle - radius),
    high: toPercent(middle + radius),
  }
}
