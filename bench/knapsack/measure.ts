import { solveMckp } from '../../src/core/solvers/mckp/mckp.ts'
import type { MckpProblem, MckpSolution } from '../../src/core/solvers/mckp/problem.ts'
import { median } from '../support/statistics.ts'
import { type InstanceSize, type Kind, makeInstance } from './instances.ts'

/** More than any measured instance needs. */
const NO_LIMIT = 1e12

/** One kind and size. */
export interface KindRow {
  readonly kind: Kind
  readonly range: number
  readonly budget: number
  readonly classes: number
  readonly median_ms: number
  readonly max_ms: number
  readonly proven: string
  readonly median_states: number
}

/** Solves `count` instances of a kind, each once, after as many others have warmed the code. */
export function measureKind(
  kind: Kind,
  size: InstanceSize,
  count: number,
  maxStates: number,
): KindRow {
  const runs = Array.from({ length: 2 * count }, (_, seed) =>
    timed(makeInstance(kind, size, seed), maxStates),
  ).slice(count)
  return {
    kind,
    range: size.range,
    budget: size.share ?? 0.5,
    classes: size.classes,
    median_ms: median(runs.map(({ ms }) => ms)),
    max_ms: Math.max(...runs.map(({ ms }) => ms)),
    proven: `${runs.filter(({ solution }) => solution.optimal).length} of ${count}`,
    median_states: median(runs.map(({ solution }) => solution.states)),
  }
}

/** What a limit of work gives. */
export interface GapRow {
  readonly kind: Kind
  readonly max_states: number
  readonly median_ms: number
  readonly proven: string
  /** (bound − value) / bound, in parts of a million million; the largest of all instances. */
  readonly largest_gap_1e12: number
}

/** The gap that is left by limits of work, over the same instances. */
export function measureGaps(
  kind: Kind,
  size: InstanceSize,
  count: number,
  limits: readonly number[],
): GapRow[] {
  const problems = Array.from({ length: count }, (_, seed) => makeInstance(kind, size, seed))
  for (const problem of problems) timed(problem, 1e5)
  return limits.map(maxStates => {
    const runs = problems.map(problem => timed(problem, maxStates))
    return {
      kind,
      max_states: maxStates,
      median_ms: median(runs.map(({ ms }) => ms)),
      proven: `${runs.filter(({ solution }) => solution.optimal).length} of ${count}`,
      largest_gap_1e12: Math.max(
        ...runs.map(
          ({ solution: { value, upperBound } }) => (1e12 * (upperBound - value)) / upperBound,
        ),
      ),
    }
  })
}

/** Small problems, as an encoder solves them by the thousand. */
export interface SmallRow {
  readonly kind: Kind
  readonly classes: number
  readonly options: number
  readonly us_each: number
}

export function measureSmall(kind: Kind, size: InstanceSize, count: number): SmallRow {
  const problems = Array.from({ length: count }, (_, seed) => makeInstance(kind, size, seed))
  const rounds = Array.from({ length: 9 }, () => {
    const started = performance.now()
    for (const problem of problems) solveMckp(problem, { maxStates: NO_LIMIT })
    return ((performance.now() - started) * 1e3) / count
  })
  // The first rounds are compiled in between.
  const us_each = median(rounds.slice(2))
  return { kind, classes: size.classes, options: size.options, us_each }
}

function timed(problem: MckpProblem, maxStates: number): { ms: number; solution: MckpSolution } {
  const started = performance.now()
  const solution = solveMckp(problem, { maxStates })
  const ms = performance.now() - started
  if (!solution.feasible || solution.cost > problem.budget) throw new Error('not a solution')
  return { ms, solution }
}
