import { AppError } from '../base/errors.ts'

/** Counts tokens of one tokenizer. Cheap to keep, not to be shared between threads. */
export interface TokenCounter {
  /** Tokenizer or profile id, as in `tokens.tokenizer` of an answer. */
  readonly id: string
  /** Whether `count` equals the count of the model's tokenizer, or is an estimate. */
  readonly exact: boolean
  /** Counts add up at safe boundaries (docs/reference/tokens.md); absent: not always. */
  readonly additive?: true
  /** Tokens of `text`; time grows linearly with its length. Lone surrogates count as U+FFFD. */
  count(text: string): number
  /**
   * `count(text)` if it is at most `limit`, else some number above `limit`, found without reading
   * on.
   */
  countUpTo(text: string, limit: number): number
}

/**
 * Throws `AppError` `invalid_request` if the value is not a string, because types are not checked
 * at the edges.
 */
export function requireString(text: unknown): asserts text is string {
  if (typeof text !== 'string') throw new AppError('invalid_request', 'the text is not a string')
}
