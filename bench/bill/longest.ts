import type { ArmPlay } from '../../src/bill/account.ts'
import type { PlacedSession } from '../../src/bill/place-results.ts'
import { median } from '../../src/bill/statistics.ts'
import { percentile } from '../support/statistics.ts'

/** Where a context ends. */
const MOST_TOKENS = 200_000
/** The growth of shorter stretches says little. */
const LEAST_CALLS = 20

/** The tokens of each call's prompt under an arm. */
function promptsOf({ calls, results }: PlacedSession, { changes }: ArmPlay): number[] {
  const saved = new Map<number, number>()
  let next = 0
  return calls.map(({ prompt, epoch }, at) => {
    for (; changes[next]?.call === at; next++) {
      const { result, sent } = changes[next]!
      const { raw, tokens } = results[result]!
      saved.set(result, raw === 0 ? 0 : tokens * Math.max(0, 1 - sent / raw))
    }
    let left = prompt
    for (const [index, less] of saved) {
      const result = results[index]!
      if (result.epoch === epoch && result.start < prompt) left -= less
    }
    return left
  })
}

/** How many calls a prompt that grows so takes until it is full. */
function callsUntilFull(prompts: readonly number[]): number {
  const [first = 0] = prompts
  const growth = ((prompts.at(-1) ?? 0) - first) / (prompts.length - 1)
  return growth <= 0 ? Number.POSITIVE_INFINITY : (MOST_TOKENS - first) / growth
}

/**
 * How many times as many calls a session has until its prompt is full, by the growth of its longest
 * stretch without a compaction: the median of the sessions, and their quartiles.
 */
export function roomOf(pairs: readonly (readonly [PlacedSession, ArmPlay])[]) {
  const ratios = pairs.flatMap(([session, arm]) => {
    const stretches = Map.groupBy(session.calls.keys(), at => session.calls[at]!.epoch).values()
    const longest = [...stretches].reduce((a, b) => (b.length > a.length ? b : a), [])
    if (longest.length < LEAST_CALLS) return []
    const direct = longest.map(at => session.calls[at]!.prompt)
    const prompts = promptsOf(session, arm)
    const before = callsUntilFull(direct)
    if (before === Number.POSITIVE_INFINITY || before <= 0) return []
    return callsUntilFull(longest.map(at => prompts[at]!)) / before
  })
  return {
    sessions: ratios.length,
    median: median(ratios),
    low: percentile(ratios, 0.25),
    high: percentile(ratios, 0.75),
  }
}
