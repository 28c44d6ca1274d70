import { notationOf } from '../../core/pipeline/wrapped-format.ts'
import type { Played } from './play.ts'
import type { Redemption } from './redemption.ts'
import { MEANS, noSavings, type Savings, savingsOf } from './savings.ts'

/** Sums over results that have something in common. */
export interface Sums {
  results: number
  raw_bytes: number
  /** Of the baseline. */
  tokens_in: number
  tokens_out: number
  /** Results that the answer gave back to the last byte, or value. */
  restored: number
  readonly saved_tokens: Savings
}

/** By which a replay is summed up. */
export const DIMENSIONS = ['tool', 'shape', 'layer', 'format'] as const
export type Dimension = (typeof DIMENSIONS)[number]

/** Hints that were sent, and how many of them were not true. */
export interface HintCounts {
  sent: number
  failed: number
}

export interface Tally {
  readonly total: Sums
  readonly by: Readonly<Record<Dimension, ReadonlyMap<string, Sums>>>
  readonly hints: HintCounts
  /** What it would cost to fetch some of what was left out. */
  readonly redemption: Redemption
  /** Of all answers, beside what was wrong with hints. */
  findings: number
  /** Results that got no answer, and so are in none of the sums. */
  failed: number
  /** As these, because nothing that may be sent of them fits the budget. */
  too_small: number
  /** @param baseline tokens of the result as the baseline writes it */
  add(played: Played, baseline: number): void
}

export function createTally(): Tally {
  const total = zero()
  const by = { tool: group(), shape: group(), layer: group(), format: group() }
  const hints = { sent: 0, failed: 0 }
  const redemption = { markers: 0, sent: 0, tokens: 0 }
  return {
    total,
    by,
    hints,
    redemption,
    findings: 0,
    failed: 0,
    too_small: 0,
    add(played, baseline) {
      const { tool, answer } = played
      accumulate(total, played, baseline)
      hints.sent += played.hints
      hints.failed += played.failedHints
      this.findings += played.findings.length
      const keys = {
        tool,
        shape: answer.shape,
        layer: answer.layer,
        format: notationOf(answer.format),
      }
      for (const dimension of DIMENSIONS) {
        const sums = by[dimension].get(keys[dimension]) ?? zero()
        by[dimension].set(keys[dimension], sums)
        accumulate(sums, played, baseline)
      }
    },
  }
}

function group(): Map<string, Sums> {
  return new Map()
}

function zero(): Sums {
  return {
    results: 0,
    raw_bytes: 0,
    tokens_in: 0,
    tokens_out: 0,
    restored: 0,
    saved_tokens: noSavings(),
  }
}

function accumulate(sums: Sums, { answer, restored }: Played, baseline: number): void {
  sums.results++
  sums.raw_bytes += answer.bytes.raw
  sums.tokens_in += baseline
  sums.tokens_out += answer.tokens.final
  if (restored) sums.restored++
  const saved = savingsOf(answer, baseline)
  for (const means of MEANS) sums.saved_tokens[means] += saved[means]
}
