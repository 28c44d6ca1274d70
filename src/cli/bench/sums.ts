import type { Measured } from './measure.ts'

/** Sums over texts that have something in common. */
export interface Sums {
  texts: number
  reduced: number
  tokens_in: number
  /** Of the smallest lossless texts. */
  tokens_lossless: number
  tokens_out: number
  critical: number
  critical_kept: number
  markers: number
  /** Markers that gave the very bytes back. */
  restored: number
}

/** Sums by a property of the samples, in the order in which it is met. */
export function sumBy(
  measured: readonly Measured[],
  keyOf: (measured: Measured) => string,
): ReadonlyMap<string, Sums> {
  const groups = new Map<string, Sums>()
  for (const each of measured) {
    const key = keyOf(each)
    const sums = groups.get(key) ?? zero()
    groups.set(key, sums)
    add(sums, each)
  }
  return groups
}

export function sumAll(measured: readonly Measured[]): Sums {
  return sumBy(measured, () => '').get('') ?? zero()
}

function zero(): Sums {
  return {
    texts: 0,
    reduced: 0,
    tokens_in: 0,
    tokens_lossless: 0,
    tokens_out: 0,
    critical: 0,
    critical_kept: 0,
    markers: 0,
    restored: 0,
  }
}

function add(sums: Sums, { sample, answer, lossless, missing, restored }: Measured): void {
  sums.texts++
  sums.tokens_in += answer.tokens.baseline
  sums.tokens_lossless += lossless
  sums.tokens_out += answer.tokens.final
  sums.critical += sample.critical.length
  sums.critical_kept += sample.critical.length - missing.length
  if (restored === null) return
  sums.reduced++
  sums.markers++
  if (restored) sums.restored++
}
