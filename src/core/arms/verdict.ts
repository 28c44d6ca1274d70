import { type ArmSums, RESULT_ARMS, type ResultArmName } from './sums.ts'

/** How often an interval may miss the truth at any time, on both sides together. */
const ALPHA = 0.05
/** Results of an arm before anything is said of it: spreads of fewer say little. */
const LEAST_RESULTS = 50
/** More results than this never come. */
const MOST_RESULTS = 10_000_000

/** An estimate with its interval. */
export interface Estimate {
  readonly estimate: number
  readonly low: number
  readonly high: number
}

/** What elision did to the tokens of a class, and to what agents did after its results. */
export interface ClassVerdict {
  readonly results: Readonly<Record<ResultArmName, number>>
  /** Tokens that were left out. */
  readonly direct: number
  /** What agents fetched of that, with the turns it took. */
  readonly retrieved: number
  /** What else they called more often than with whole results; below 0 if less often. */
  readonly excess: number
  /** `direct − retrieved − excess`; `null` as long as there are too few results to say. */
  readonly net: Estimate | null
  /** By how much more results had a follow-up than whole ones, as a share of results. */
  readonly followUps: Estimate | null
  /** Results, about, until the interval of `net` lies on one side of 0; 0: it does. */
  readonly missing: number
}

/**
 * Compares the arms of a class. How many tokens elision leaves out of a result is known in both
 * arms, and large results cost more to read again. So costs are adjusted for it, in each arm by a
 * line of its own: W. Lin, "Agnostic notes on regression adjustments to experimental data", Annals
 * of Applied Statistics 7 (2013).
 * @param share of results that stay whole now
 */
export function verdictOf(
  { elided, whole }: Readonly<Record<ResultArmName, ArmSums>>,
  share: number,
): ClassVerdict {
  const mean = (elided.wd + whole.wd) / Math.max(1, elided.w + whole.w)
  const [left, kept] = [costOf(elided, mean), costOf(whole, mean)]
  const { direct } = elided
  const retrieved = (left.retrieved - kept.retrieved) * elided.results
  const excess = (left.cost - kept.cost) * elided.results - retrieved
  const results = { elided: elided.results, whole: whole.results }
  const figures = { results, direct, retrieved, excess }
  const needed = RESULT_ARMS.reduce(
    (most, arm) => Math.max(most, missingOf(results[arm], arm === 'whole' ? share : 1 - share)),
    -Infinity,
  )
  if (needed > 0) return { ...figures, net: null, followUps: null, missing: needed }
  const all = elided.results + whole.results
  const net = direct - retrieved - excess
  const error = Math.sqrt(left.variance + kept.variance) * elided.results
  return {
    ...figures,
    net: around(net, error, all),
    followUps: followUpsOf(elided, whole),
    missing: moreResults(net / elided.results, error / elided.results, all),
  }
}

/** The follow-ups of two arms, by the share of results that have one. */
function followUpsOf(elided: ArmSums, whole: ArmSums): Estimate {
  const [left, kept] = [shareOf(elided), shareOf(whole)]
  const error = Math.sqrt(left.variance + kept.variance)
  return around(left.share - kept.share, error, elided.results + whole.results)
}

/**
 * What follow-ups of a result cost, in the mean, if `direct` tokens are left out of it.
 * @returns with the variance of that mean
 */
function costOf({ w, wd, wc, wr, q, qd, qc, qdd, qdc, qcc }: ArmSums, direct: number) {
  if (w === 0) return { cost: 0, retrieved: 0, variance: 0 }
  const spread = qdd - (qd * qd) / q
  const slope = spread > 0 ? (qdc - (qd * qc) / q) / spread : 0
  const level = wc / w - (slope * wd) / w
  // The squares of residuals, by what they are made of: cost − level − slope · direct.
  const squares =
    qcc +
    level * level * q +
    slope * slope * qdd -
    2 * (level * qc + slope * qdc - level * slope * qd)
  return {
    cost: level + slope * direct,
    retrieved: wr / w,
    variance: Math.max(0, squares) / (w * w),
  }
}

function shareOf({ w, wy, q, qy }: ArmSums) {
  const share = wy / w
  const variance = Math.max(0, qy * (1 - 2 * share) + share * share * q) / (w * w)
  return { share, variance }
}

function around(estimate: number, error: number, results: number): Estimate {
  const reach = error * sequenceFactor(results, ALPHA)
  return { estimate, low: estimate - reach, high: estimate + reach }
}

function missingOf(results: number, probability: number): number {
  if (results >= LEAST_RESULTS) return 0
  return probability > 0 ? Math.ceil((LEAST_RESULTS - results) / probability) : MOST_RESULTS
}

/** How many more results it takes, if they spread as those until now did. */
function moreResults(estimate: number, error: number, results: number): number {
  const isClear = (all: number) =>
    error * Math.sqrt(results / all) * sequenceFactor(all, ALPHA) < Math.abs(estimate)
  let all = results
  while (!isClear(all) && all < MOST_RESULTS) all *= 1.25
  return Math.min(MOST_RESULTS, Math.ceil(all) - results)
}

/**
 * Intervals that may be looked at as often as one likes. The boundary is that of asymptotic
 * confidence sequences: I. Waudby-Smith, D. Arbour, R. Sinha, E. H. Kennedy and A. Ramdas,
 * "Time-uniform central limit theory and asymptotic confidence sequences", Annals of Statistics 52
 * (2024), theorem 2.2. Their use for experiments whose assignment alone is random is in
 * D. Ham, I. Bojinov, M. Lindon and M. Tingley, "Design-based confidence sequences" (2022).
 */

/** Where the boundary is tightest, in results. */
const AIMED_RESULTS = 1_000

/** How many standard errors an interval after `results` results extends to each side. */
export function sequenceFactor(results: number, alpha: number): number {
  // Their section 3.6: the value that makes the boundary tightest at a time.
  const level = -2 * Math.log(alpha)
  const rho2 = (level + Math.log(level + 1)) / AIMED_RESULTS
  const time = results * rho2
  return Math.sqrt((2 * (time + 1) * Math.log(Math.sqrt(time + 1) / alpha)) / time)
}
