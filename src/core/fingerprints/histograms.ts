/** The parts of a whole that a histogram is written in, so that its numbers are whole and short. */
export const PARTS = 10_000

/** Half an octave: each bound is √2 times the one before. */
const LEAST_BYTES_LOG2 = 6
const MOST_BYTES_LOG2 = 20

/**
 * The largest value of each bucket; the last bucket has all larger values. Quantiles of members
 * cannot be added up, and these can.
 */
export const BOUNDS = {
  /** Different results since the same one; of repeats only. */
  repeat_burst: [0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, Number.POSITIVE_INFINITY],
  /** UTF-8 bytes. */
  response_chars: [...halfOctaves(), Number.POSITIVE_INFINITY],
  /** Levels of JSON that is not empty. */
  depth: [...Array(16).keys(), Number.POSITIVE_INFINITY],
} as const satisfies Record<string, readonly number[]>

export type HistogramName = keyof typeof BOUNDS

export const HISTOGRAM_NAMES = Object.keys(BOUNDS) as readonly HistogramName[]

/** Shares of the responses. Each is counted once, however often its rest was fetched. */
export const RATES = [
  /** Parts were left out with a marker. */
  'elided',
  /** Such parts were fetched. */
  'retrieved',
  /** A later edit quoted a line that was left out, and that nothing else showed. */
  'needed',
] as const

export type RateName = (typeof RATES)[number]

/** Histograms in parts of the whole, and rates; each absent if it is not known, or not told. */
export type Distributions = {
  readonly [Name in HistogramName]?: readonly number[] | undefined
} & { readonly [Name in RateName]?: number | undefined }

function halfOctaves(): readonly number[] {
  const steps = 2 * (MOST_BYTES_LOG2 - LEAST_BYTES_LOG2) + 1
  return Array.from({ length: steps }, (_, step) => Math.round(2 ** (LEAST_BYTES_LOG2 + step / 2)))
}

/** The bucket of a value that is not negative. */
export function bucketOf(name: HistogramName, value: number): number {
  return BOUNDS[name].findIndex(bound => value <= bound)
}

/** Weights in whole parts that add up to `PARTS` (largest remainders); `null` of nothing. */
export function toParts(weights: ArrayLike<number>): readonly number[] | null {
  const all = Array.from(weights)
  const total = all.reduce((sum, weight) => sum + weight, 0)
  if (!(total > 0)) return null
  const exact = all.map(weight => (PARTS * weight) / total)
  const parts = exact.map(Math.floor)
  const missing = PARTS - parts.reduce((sum, part) => sum + part, 0)
  const byRest = [...exact.keys()].sort((a, b) => restOf(b) - restOf(a) || a - b)
  for (const bucket of byRest.slice(0, missing)) parts[bucket]!++
  return parts

  function restOf(bucket: number): number {
    return exact[bucket]! - parts[bucket]!
  }
}

/**
 * A value that so large a share does not exceed, by the bound of its bucket; in the last bucket the
 * bound below it. `null` without a histogram.
 */
export function quantileOf(
  name: HistogramName,
  parts: readonly number[] | undefined,
  share: number,
): number | null {
  if (parts === undefined) return null
  const bounds: readonly number[] = BOUNDS[name]
  let sum = 0
  for (const [bucket, part] of parts.entries()) {
    sum += part
    if (sum >= share * PARTS) return bounds[Math.min(bucket, bounds.length - 2)]!
  }
  return null
}

/**
 * The weights of buckets with enough sessions. A bucket with fewer joins its neighbour: the next
 * smaller bucket that has enough, or else the smallest of them. So nothing shows where it was.
 * Returns `null` if fewer than two buckets have enough.
 */
export function joinBuckets(
  weights: ArrayLike<number>,
  hasEnough: (bucket: number) => boolean,
): Float64Array | null {
  const kept = [...Array(weights.length).keys()].filter(hasEnough)
  if (kept.length < 2) return null
  const joined = new Float64Array(weights.length)
  for (let bucket = 0; bucket < weights.length; bucket++) {
    const into = kept.findLast(each => each <= bucket) ?? kept[0]!
    joined[into]! += weights[bucket]!
  }
  return joined
}
