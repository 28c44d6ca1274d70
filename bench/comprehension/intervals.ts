/** 97.5 % of a normal distribution are below. */
const Z = 1.96

export interface Interval {
  readonly low: number
  readonly high: number
}

/** Wilson's 95 % interval of a share; `null` if nothing was asked. */
export function shareInterval(right: number, asked: number): Interval | null {
  if (asked === 0) return null
  const share = right / asked
  const scale = 1 + Z ** 2 / asked
  const middle = (share + Z ** 2 / (2 * asked)) / scale
  const half = (Z / scale) * Math.sqrt((share * (1 - share)) / asked + Z ** 2 / (4 * asked ** 2))
  return { low: middle - half, high: middle + half }
}

/**
 * The 95 % interval of a difference between two shares of the same questions (Agresti and Min,
 * 2005: half a question is added to each kind of pair).
 * @param more questions that only the first side fails at
 * @param fewer questions that only the second side fails at
 */
export function pairedInterval(more: number, fewer: number, asked: number): Interval {
  const [b, c, n] = [more + 0.5, fewer + 0.5, asked + 2]
  const middle = (b - c) / n
  const half = (Z / n) * Math.sqrt(b + c - (b - c) ** 2 / n)
  return { low: middle - half, high: middle + half }
}
