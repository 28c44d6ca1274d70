/** 0 for none. */
export function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0) / Math.max(1, numbers.length)
}

/**
 * The least of the numbers that at least `share` of them do not exceed (nearest rank): with a share
 * of 0.99, the 99th of 100 and the 100th of 101. 0 for none.
 */
export function percentile(numbers: readonly number[], share: number): number {
  const rank = Math.max(1, Math.ceil(share * numbers.length))
  return numbers.toSorted((a, b) => a - b)[rank - 1] ?? 0
}

/** Milliseconds of many calls in short. */
export interface Times {
  readonly count: number
  readonly p50_ms: number
  readonly p99_ms: number
  readonly max_ms: number
}

export function summarizeTimes(ms: readonly number[]): Times {
  return {
    count: ms.length,
    p50_ms: percentile(ms, 0.5),
    p99_ms: percentile(ms, 0.99),
    max_ms: percentile(ms, 1),
  }
}
