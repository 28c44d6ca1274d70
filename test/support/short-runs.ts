import { FULL_RUNS, runs, SEED } from './runs.ts'

/**
 * As `runs`, for a property whose runs take long.
 * @param most the most runs, unless all are asked for
 */
export function fewRuns(full: number, most: number): number {
  return FULL_RUNS ? runs(full) : Math.min(runs(full), most)
}

/** All cases in a full run. In a shorter one `count` of them, other ones for each seed. */
export function someOf<Case>(cases: readonly Case[], count: number): readonly Case[] {
  if (FULL_RUNS || count >= cases.length) return cases
  const step = cases.length / count
  return Array.from({ length: count }, (_, at) => {
    return cases[(SEED + Math.floor(at * step)) % cases.length]!
  })
}
