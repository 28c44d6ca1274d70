import type { Value } from '../../../json/value.ts'
import { cutStart, sharedStart } from './affixes.ts'

/** Neighbouring members whose values are strings with the same start. */
export interface PatternRun {
  /** Index of the first member. */
  readonly start: number
  /** Index after the last member. */
  readonly end: number
  readonly prefix: string
}

const FEWEST_MEMBERS = 3
const SHORTEST_PREFIX = 8

/** A neighbour that shares this many times more begins a run of its own. */
const MUCH_MORE = 1.5

/**
 * Runs of members that may save tokens; the first member is in none. Greedy, linear in the strings'
 * lengths.
 */
export function findPatternRuns(values: readonly Value[]): readonly PatternRun[] {
  const runs: PatternRun[] = []
  for (let start = 1; start < values.length; ) {
    const run = runFrom(values, start)
    if (run.prefix !== '') runs.push(run)
    start = run.end
  }
  return runs
}

function runFrom(values: readonly Value[], start: number): PatternRun {
  const first = values[start]
  let end = start + 1
  if (typeof first !== 'string') return { start, end, prefix: '' }
  let length = first.length
  while (end < values.length) {
    const text = values[end]
    if (typeof text !== 'string') break
    const shared = sharedStart(first, text, length)
    const members = end - start
    if (shared < SHORTEST_PREFIX || isCloserToNext(text, values[end + 1], shared)) break
    if (members > 1 && (members + 1) * shared < members * length) break
    length = shared
    end++
  }
  const texts = values.slice(start, end) as string[]
  const prefix = texts.length < FEWEST_MEMBERS ? '' : first.slice(0, cutStart(texts, length))
  return { start, end, prefix: prefix.length < SHORTEST_PREFIX ? '' : prefix }
}

function isCloserToNext(text: string, next: Value | undefined, shared: number): boolean {
  if (typeof next !== 'string') return false
  const more = Math.floor(shared * MUCH_MORE) + 1
  return sharedStart(text, next, more) >= more
}
