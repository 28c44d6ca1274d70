import type { ArmDelta, UnitDelta } from '../../arms/sums.ts'
import type { EncodeAnswer } from '../../contract/encode.ts'
import type { FreshResults, MeasuredResult, Report } from '../../contract/operation-result.ts'
import type { NewRewrite } from './rewrite-result.ts'

/** The record of telemetry and the ledger's row of a result, what it adds to arms, and its key. */
export interface NewResult extends MeasuredResult {
  readonly response?: () => string
  readonly row?: NonNullable<Report['row']>
  readonly recordKey: string
  /** Its tokens as the client sent it, and as it leaves. */
  readonly tokens_in: number
  readonly tokens_out: number
  readonly arms?: readonly ArmDelta[]
  readonly unit?: UnitDelta
}

/** What is reported of a result that was written now. */
export function reportOf(
  recordKey: string,
  { response, row, tokens, measured }: NewRewrite,
): NewResult {
  const { baseline: tokens_in, final: tokens_out } = tokens
  const told = { ...(response && { response }), ...(row && { row }) }
  return { recordKey, ...measured, tokens_in, tokens_out, ...told }
}

/** All of one request are counted by one tokenizer. */
export function withResult(
  fresh: FreshResults | null,
  { tokenizer, baseline, final }: EncodeAnswer['tokens'],
): FreshResults {
  const { count = 0, before = 0, after = 0 } = fresh ?? {}
  return { tokenizer, count: count + 1, before: before + baseline, after: after + final }
}
