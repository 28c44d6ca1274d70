/** The values of a problem. The options of class `i` are `[starts[i], starts[i + 1])`. */
interface OptionValues {
  readonly starts: Uint32Array
  readonly values: Float64Array
  /** By class; only its length counts here. */
  readonly required: ArrayLike<number>
}

/**
 * Values are counted in whole units, so that sums and comparisons within the solver are exact and
 * do not depend on their order.
 */
export interface ValueGrid {
  /** A power of two. */
  readonly unit: number
  /** Whether every value is a multiple of the unit. If not, values are rounded up to one. */
  readonly exact: boolean
}

/** Sums of values stay below this many units, which leaves a double two bits for differences. */
const MAX_UNITS_EXPONENT = 51
const SMALLEST_EXPONENT = -1074

/**
 * The largest unit that measures all values, or the finest with which the sum of every class's
 * largest value stays below 2^51 units.
 * @throws RangeError if that sum is not finite
 */
export function valueGrid(problem: OptionValues): ValueGrid {
  const { starts, values } = problem
  const total = sumOfLargest(problem)
  if (total === 0) return { unit: 1, exact: true }
  if (total === Infinity) throw new RangeError('values: their sum is not a finite number')
  const exponent = floorLog2(total)
  const finest = 2 ** Math.max(SMALLEST_EXPONENT, exponent + 1 - MAX_UNITS_EXPONENT)
  let unit = 2 ** exponent
  for (let j = 0, end = starts.at(-1)!; j < end; j++) {
    const value = values[j]!
    while (!isMultiple(value, unit)) {
      if (unit <= finest) return { unit: finest, exact: false }
      unit /= 2
    }
  }
  return { unit, exact: true }
}

/**
 * The value of a solution if all fitted: the sum of every class's largest value, possibly Infinity.
 */
export function sumOfLargest({ starts, values, required }: OptionValues): number {
  let total = 0
  for (let i = 0; i < required.length; i++) {
    let largest = 0
    const end = starts[i + 1]!
    for (let j = starts[i]!; j < end; j++) if (values[j]! > largest) largest = values[j]!
    total += largest
  }
  return total
}

/** `value` in units, rounded up. */
export function toUnits(value: number, { unit, exact }: ValueGrid): number {
  if (exact || value === 0) return value / unit
  // The quotient of a tiny value may be zero.
  return Math.max(1, Math.ceil(value / unit))
}

/**
 * Dividing by a power of two is exact, except for quotients so small that they cannot be multiples.
 */
function isMultiple(value: number, unit: number): boolean {
  return value === 0 || (value >= unit && Number.isInteger(value / unit))
}

function floorLog2(x: number): number {
  let exponent = Math.min(1023, Math.max(SMALLEST_EXPONENT, Math.floor(Math.log2(x))))
  while (2 ** exponent > x) exponent--
  while (exponent < 1023 && 2 ** (exponent + 1) <= x) exponent++
  return exponent
}
