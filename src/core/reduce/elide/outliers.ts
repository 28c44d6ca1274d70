/** Least observations of a field that a rule can be made of. */
const LEAST_VALUES = 20
/**
 * A field has few values if these are at most this share of the observations; one is rare up to the
 * second share.
 */
const DISTINCT_SHARE = 0.1
const RARE_SHARE = 0.02
/**
 * Distances between the quartiles beyond them from which a number is far out (Tukey 1977,
 * "Exploratory Data Analysis", 2D).
 */
const FAR_OUT = 3
/** More far-out numbers than this share are a heavy tail; then only its ends are outliers. */
const TAIL_SHARE = 0.05

/** Values of one field, and the items that they are of. */
export interface Column {
  readonly items: readonly number[]
  readonly values: readonly (string | number)[]
}

/** Items with a value that few others have, if the field has few values in all. */
export function rareValues({ items, values }: Column): readonly number[] {
  if (values.length < LEAST_VALUES) return []
  const counts = new Map<string | number, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  if (counts.size > Math.max(2, values.length * DISTINCT_SHARE)) return []
  const most = Math.max(1, Math.floor(values.length * RARE_SHARE))
  return items.filter((_, index) => counts.get(values[index]!)! <= most)
}

/** Items whose number is far out; of a heavy tail only the least and the greatest. */
export function extremes(items: readonly number[], numbers: readonly number[]): readonly number[] {
  if (numbers.length < LEAST_VALUES) return []
  const sorted = Float64Array.from(numbers).sort()
  const low = sorted[Math.floor(sorted.length / 4)]!
  const high = sorted[Math.floor((sorted.length * 3) / 4)]!
  const reach = FAR_OUT * (high - low)
  if (!(reach > 0)) return []
  const isFar = (number: number) => number < low - reach || number > high + reach
  const far = items.filter((_, index) => isFar(numbers[index]!))
  if (far.length <= numbers.length * TAIL_SHARE) return far
  const ends = [sorted[0]!, sorted.at(-1)!].filter(isFar)
  return ends.map(end => items[numbers.indexOf(end)]!)
}
