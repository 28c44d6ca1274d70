import { mean } from '../support/statistics.ts'

/** What an interval of differences says. `null`: nothing can be said. */
export type Verdict = 'fewer' | 'more' | 'not told apart' | null

/** A difference as a share (−0.05 is 5 % fewer), with its 95 % interval. */
export interface Difference {
  readonly pairs: number
  readonly change: number
  readonly low: number
  readonly high: number
  readonly verdict: Verdict
}

/** One side of a pair: the same task in two arms. */
export interface Side {
  readonly solved: boolean
  readonly steps: number
  /** In uncached input tokens; `null` if the provider did not say. */
  readonly cost: number | null
}

export interface Pair {
  readonly raw: Side
  readonly arm: Side
}

/** The ratio of means of logarithms, by Student's t over pairs. */
function ofLogs(logs: readonly number[], error = errorOf(logs), lost = 1): Difference {
  const middle = mean(logs)
  const half = quantile(logs.length - lost) * error
  const [change, low, high] = [middle, middle - half, middle + half].map(Math.expm1) as [
    number,
    number,
    number,
  ]
  const isKnown = logs.length > lost + 1 && Number.isFinite(half)
  const verdict = !isKnown ? null : high < 0 ? 'fewer' : low > 0 ? 'more' : 'not told apart'
  return { pairs: logs.length, change, low, high, verdict }
}

const deviation = (numbers: readonly number[], lost: number) => {
  const middle = mean(numbers)
  const squares = numbers.reduce((sum, each) => sum + (each - middle) ** 2, 0)
  return Math.sqrt(squares / Math.max(1, numbers.length - lost))
}

const errorOf = (logs: readonly number[]) => deviation(logs, 1) / Math.sqrt(logs.length)

export const compareSteps = (pairs: readonly Pair[]): Difference =>
  ofLogs(pairs.map(({ raw, arm }) => Math.log(arm.steps / raw.steps)))

/** Pairs whose cost is known on both sides, as logarithms of ratios. */
function costs(pairs: readonly Pair[]) {
  return pairs.flatMap(({ raw, arm }) =>
    raw.cost !== null && arm.cost !== null && raw.cost > 0 && arm.cost > 0
      ? [{ cost: Math.log(arm.cost / raw.cost), steps: Math.log(arm.steps / raw.steps) }]
      : [],
  )
}

export const compareCost = (pairs: readonly Pair[]): Difference =>
  ofLogs(costs(pairs).map(({ cost }) => cost))

/**
 * Cost at equal steps: what is left at no difference of steps, by least squares of the ratios of
 * cost on those of steps.
 */
export function compareCostAtEqualSteps(pairs: readonly Pair[]): Difference {
  const all = costs(pairs)
  const middle = mean(all.map(({ steps }) => steps))
  const spread = all.reduce((sum, { steps }) => sum + (steps - middle) ** 2, 0)
  if (spread === 0) return ofLogs(all.map(({ cost }) => cost))
  const slope = all.reduce((sum, { cost, steps }) => sum + cost * (steps - middle), 0) / spread
  const left = all.map(({ cost, steps }) => cost - slope * steps)
  const scale = Math.sqrt(1 / all.length + middle ** 2 / spread)
  return ofLogs(left, deviation(left, 2) * scale, 2)
}

/** Tasks that only one side solved, and McNemar's exact test of them, two-sided. */
export function compareSolved(pairs: readonly Pair[]) {
  const gained = pairs.filter(({ raw, arm }) => arm.solved && !raw.solved).length
  const lost = pairs.filter(({ raw, arm }) => !arm.solved && raw.solved).length
  const p = signTest(gained, lost)
  const told = p >= 0.05 ? 'not told apart' : gained > lost ? 'more' : 'fewer'
  const verdict: Verdict = pairs.length === 0 ? null : told
  return { pairs: pairs.length, gained, lost, p, verdict }
}

/** The probability of a split at least as uneven, if each side is as likely (two-sided, exact). */
export function signTest(a: number, b: number): number {
  const n = a + b
  let [term, sum] = [0.5 ** n, 0]
  for (let k = 0; k <= Math.min(a, b); k++) {
    sum += term
    term *= (n - k) / (k + 1)
  }
  return Math.min(1, 2 * sum)
}

/** What is compared of an arm with the base, each apart from the others. */
const MEASURES = ['steps', 'solved', 'cost_at_equal_steps', 'cost'] as const

/** If the base's repetition is told apart from it in any measure, nothing is said of the others. */
export function silenceIfApart<
  Result extends { readonly arm: string } & {
    readonly [Measure in (typeof MEASURES)[number]]: { readonly verdict: Verdict }
  },
>(results: readonly Result[], repetition: string): readonly Result[] {
  const again = results.find(({ arm }) => arm === repetition)
  const isApart = MEASURES.some(of => ['fewer', 'more'].includes(again?.[of].verdict ?? ''))
  if (!isApart) return results
  const silent = (result: Result) =>
    Object.fromEntries(MEASURES.map(of => [of, { ...result[of], verdict: null }]))
  return results.map(result => (result === again ? result : { ...result, ...silent(result) }))
}

/** The chance that all of `k` attempts at a task succeed, estimated without bias (pass^k). */
export function passAll(attempts: readonly (readonly boolean[])[], k: number): number | null {
  const enough = attempts.filter(({ length }) => length >= k)
  if (enough.length === 0) return null
  const choose = (n: number): number => {
    let ways = 1
    for (let i = 0; i < k; i++) ways *= (n - i) / (k - i)
    return ways
  }
  return mean(enough.map(each => choose(each.filter(Boolean).length) / choose(each.length)))
}

/** The 97.5 % quantile of Student's t (Cornish and Fisher's expansion; exact to 0.3 % from 4 on). */
function quantile(freedom: number): number {
  const known = [Number.NaN, 12.706, 4.303, 3.182][Math.max(0, freedom)]
  if (known !== undefined) return known
  const z = 1.959964
  const terms = [
    (z ** 3 + z) / 4,
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
  ]
  return terms.reduce((sum, term, i) => sum + term / freedom ** (i + 1), z)
}
