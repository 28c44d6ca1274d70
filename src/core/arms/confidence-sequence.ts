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
