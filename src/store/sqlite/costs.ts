import type { CallSize } from './call-size.ts'

/**
 * Estimates calls by what such of the same kind and about the same size took of the thread so far.
 */
export interface Costs {
  /** In whole microseconds. */
  estimateUs(size: CallSize): number
  learn(size: CallSize, tookUs: number): void
}

/** Share of the newest call in the running mean. */
const WEIGHT = 0.1
/** Bytes that account for the fixed part of a call. */
const FIXED_BYTES = 8192
/** Until the first of a kind and size has ended; about what `docs/reference/store.md` measures. */
const FIRST_US_PER_BYTE = 0.01
/** Sizes within a factor of two learn from each other. */
const SIZES = 32

export function createCosts(): Costs {
  const usPerByte = new Map<string, Float64Array>()
  /** Of calls of whose size nothing is known. */
  const unsized = new Map<string, number>()

  function ratesOf(kind: string): Float64Array {
    const known = usPerByte.get(kind)
    if (known !== undefined) return known
    const rates = new Float64Array(SIZES).fill(FIRST_US_PER_BYTE)
    usPerByte.set(kind, rates)
    return rates
  }

  return {
    estimateUs({ kind, bytes }) {
      if (bytes === null) return Math.round(unsized.get(kind) ?? FIXED_BYTES * FIRST_US_PER_BYTE)
      return Math.round(ratesOf(kind)[bucket(bytes)]! * (bytes + FIXED_BYTES))
    },
    learn({ kind, bytes }, tookUs) {
      if (bytes === null) {
        const known = unsized.get(kind) ?? FIXED_BYTES * FIRST_US_PER_BYTE
        unsized.set(kind, known + WEIGHT * (tookUs - known))
        return
      }
      const rates = ratesOf(kind)
      const known = rates[bucket(bytes)]!
      rates[bucket(bytes)] = known + WEIGHT * (tookUs / (bytes + FIXED_BYTES) - known)
    },
  }
}

/** The binary logarithm, in whole numbers. */
function bucket(bytes: number): number {
  return SIZES - 1 - Math.clz32(bytes + FIXED_BYTES)
}
