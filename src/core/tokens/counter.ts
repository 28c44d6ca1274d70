/** Counts tokens of one tokenizer. Cheap to keep, not to be shared between threads. */
export interface TokenCounter {
  /** Tokenizer or profile id, as in `tokens.tokenizer` of an answer. */
  readonly id: string
  /** Whether `count` is what the model's tokenizer gives, or an estimate. */
  readonly exact: boolean
  /** Tokens of `text`; time grows linearly with its length. Lone surrogates count as U+FFFD. */
  count(text: string): number
  /** `count(text)` if it is at most `limit`, else some number above `limit`, found without reading on. */
  countUpTo(text: string, limit: number): number
}
