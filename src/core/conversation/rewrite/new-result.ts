import type { EncodeAnswer } from '../../contract/encode.ts'
import type { FreshResults, Report } from '../../contract/operation-result.ts'

/** The account of a result, and its key. */
export type NewResult = Omit<Report, 'op'> & { readonly recordKey: string }

/** All of one request are counted by one tokenizer. */
export function withResult(
  fresh: FreshResults | null,
  { tokenizer, baseline, final }: EncodeAnswer['tokens'],
): FreshResults {
  const { count = 0, before = 0, after = 0 } = fresh ?? {}
  return { tokenizer, count: count + 1, before: before + baseline, after: after + final }
}
