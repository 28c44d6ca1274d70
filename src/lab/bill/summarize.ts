import { createRandom, median } from './statistics.ts'

/** What was paid for a session without an arm, and with it. */
export interface Pair {
  readonly direct: number
  readonly arm: number
}

/** Shares of the bill. */
export interface Saving {
  readonly saved: number
  /** The interval of 95 %, over sessions. */
  readonly low: number
  readonly high: number
  /** The median of the sessions' own shares. */
  readonly median: number
  /** Without the dearest session. */
  readonly without_dearest: number
  /** Sessions that cost more than before, and by how much the worst of them. */
  readonly dearer: number
  readonly worst: number
}

const RESAMPLES = 2_000
const TAIL = 0.025
/** Less than this share is the rounding of sums. */
const EPSILON = 1e-9

export function summarize(pairs: readonly Pair[]): Saving {
  const shares = pairs.map(pair => shareOf([pair])).sort((a, b) => a - b)
  const dearest = pairs.reduce((most, { direct }, at) => {
    return direct > (pairs[most]?.direct ?? 0) ? at : most
  }, 0)
  const random = createRandom(49)
  const drawn = Array.from({ length: RESAMPLES }, () =>
    shareOf(pairs.map(() => pairs[random(pairs.length)]!)),
  ).sort((a, b) => a - b)
  const worse = shares.filter(share => share < -EPSILON)
  return {
    saved: shareOf(pairs),
    low: drawn[Math.floor(TAIL * RESAMPLES)]!,
    high: drawn[Math.ceil((1 - TAIL) * RESAMPLES) - 1]!,
    median: median(shares),
    without_dearest: shareOf(pairs.filter((_, at) => at !== dearest)),
    dearer: worse.length,
    worst: Math.max(0, -(shares[0] ?? 0)),
  }
}

function shareOf(pairs: readonly Pair[]): number {
  const direct = pairs.reduce((sum, pair) => sum + pair.direct, 0)
  return direct === 0 ? 0 : 1 - pairs.reduce((sum, pair) => sum + pair.arm, 0) / direct
}

/** The saving of each quarter of the sessions, by what they are ordered by. */
export function quartersOf(pairs: readonly (Pair & { readonly by: number })[]): readonly number[] {
  const sorted = pairs.toSorted((a, b) => a.by - b.by)
  return [0, 1, 2, 3].map(quarter => {
    const [from, to] = [quarter, quarter + 1].map(at => Math.round((at * sorted.length) / 4))
    return shareOf(sorted.slice(from, to))
  })
}
