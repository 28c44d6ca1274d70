import { bareFormat } from '../../core/pipeline/wrapped-format.ts'
import { CHANGES_FORMAT } from '../../core/sessions/near/changes-format.ts'
import {
  LINES_FORMAT,
  NEAR_FORMAT,
  REFERENCE_FORMAT,
} from '../../core/sessions/turn/decode-references.ts'
import { STRING_LINES_FORMAT } from '../../core/sessions/turn/string-lines.ts'
import type { EncodeAnswer } from '../../index.ts'
import type { BilledResult } from '../guard/bill.ts'
import type { Played } from './play.ts'
import type { Retrieval } from './retrieval.ts'

/** Sums over results that have something in common. */
export interface Sums {
  results: number
  raw_bytes: number
  /** Tokens of the baseline. */
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
  /** The tokens for fetching some of the omitted parts. */
  readonly retrieval: Retrieval
  /** Every result, for a bill by turns. */
  readonly billed: BilledResult[]
  /** Findings about answers, beside what was wrong with hints. */
  findings: number
  /** Results that got no answer. The sums do not include them. */
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
  const retrieval = { markers: 0, sent: 0, tokens: 0 }
  return {
    total,
    by,
    hints,
    retrieval,
    billed: [],
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
        format: bareFormat(answer.format),
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

/** The means by which an answer became smaller. */
export const MEANS = ['exact', 'near', 'lines', 'encoder', 'omission'] as const
type Means = (typeof MEANS)[number]

type Savings = Record<Means, number>

const REFERRING = [
  [REFERENCE_FORMAT, 'exact'],
  [CHANGES_FORMAT, 'near'],
  [NEAR_FORMAT, 'near'],
  [LINES_FORMAT, 'lines'],
  [STRING_LINES_FORMAT, 'lines'],
] as const

/**
 * Tokens that an answer saved, by means. A baseline other than the input has more or fewer tokens.
 * That difference belongs to what wrote the text: the reference if all of it is one, else the
 * encoder.
 * @param baseline tokens of the result as the baseline writes it
 */
function savingsOf({ format, savings, tokens }: EncodeAnswer, baseline: number): Savings {
  const { dedup_tokens, encoder_tokens, elided_tokens } = savings
  const parts = format.split(';')
  const [, by] = REFERRING.find(([id]) => parts.includes(id)) ?? []
  const all = { ...noSavings(), encoder: encoder_tokens, omission: elided_tokens }
  if (by !== undefined) all[by] = dedup_tokens
  const isReference = by === 'exact' || by === 'near'
  all[isReference ? by : 'encoder'] += baseline - tokens.baseline
  return all
}

function noSavings(): Savings {
  return { exact: 0, near: 0, lines: 0, encoder: 0, omission: 0 }
}
