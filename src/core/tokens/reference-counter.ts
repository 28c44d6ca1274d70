import { AppError } from '../base/errors.ts'
import { requireString, type TokenCounter } from './counter.ts'

/** Encodings of older models, which tiktoken counts: no result is encoded for them. */
export const REFERENCE_ENCODINGS = ['p50k_base', 'r50k_base', 'gpt2'] as const

export type ReferenceEncoding = (typeof REFERENCE_ENCODINGS)[number]

/** The ids of a text's tokens, by tiktoken. */
export type ReferenceIds<Encoding> = (text: string, encoding: Encoding) => ArrayLike<number>

/** Runs of one kind of characters, which no split pattern cuts. */
const RUNS = /\p{L}+|\p{N}+|\s+|[^\s\p{L}\p{N}]+/gu
/** tiktoken's time grows with the square of a run: some 40 ms for one of this length. */
const MAX_RUN_CHARS = 4_096

/** Counts by tiktoken. `count` throws `AppError` `invalid_request` for a text with a long run. */
export function createReferenceCounter<Encoding extends string>(
  id: Encoding,
  idsOf: ReferenceIds<Encoding>,
): TokenCounter {
  const count = (text: string): number => {
    requireString(text)
    for (const [run] of text.matchAll(RUNS)) {
      if (run.length <= MAX_RUN_CHARS) continue
      const most = `${id} counts at most ${MAX_RUN_CHARS} characters without a break`
      throw new AppError('invalid_request', `${most}, and here are ${run.length}`)
    }
    return idsOf(text, id).length
  }
  return { id, exact: true, count, countUpTo: count }
}
