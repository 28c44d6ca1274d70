import { LINES_FORMAT, NEAR_FORMAT, REFERENCE_FORMAT } from '../../core/sessions/turn/formats.ts'
import type { EncodeAnswer } from '../../index.ts'

/** By what an answer became smaller. */
export const MEANS = ['exact', 'near', 'lines', 'encoder', 'omission'] as const
type Means = (typeof MEANS)[number]

export type Savings = Record<Means, number>

const REFERRING = [
  [REFERENCE_FORMAT, 'exact'],
  [NEAR_FORMAT, 'near'],
  [LINES_FORMAT, 'lines'],
] as const

/**
 * Tokens that an answer saved, by means. What another baseline than the input has more or fewer
 * belongs to what wrote the text: the reference where all of it is one, else the encoder.
 * @param baseline tokens of the result as the baseline writes it
 */
export function savingsOf({ format, savings, tokens }: EncodeAnswer, baseline: number): Savings {
  const { dedup_tokens, encoder_tokens, elided_tokens } = savings
  const parts = format.split(';')
  const [, by] = REFERRING.find(([id]) => parts.includes(id)) ?? []
  const all = { ...noSavings(), encoder: encoder_tokens, omission: elided_tokens }
  if (by !== undefined) all[by] = dedup_tokens
  const isReference = by === 'exact' || by === 'near'
  all[isReference ? by : 'encoder'] += baseline - tokens.baseline
  return all
}

export function noSavings(): Savings {
  return { exact: 0, near: 0, lines: 0, encoder: 0, omission: 0 }
}
