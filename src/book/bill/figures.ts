import { promptTokens } from '../../core/conversation/usage/token-usage.ts'
import type { Account } from './account.ts'

/** What something was before, and what it is. */
export interface BeforeAfter {
  readonly before: number
  readonly after: number
}

/** The three figures that every report of savings has, under these names. */
export interface SavingsFigures {
  /** Tokens of tool results, each counted once. */
  readonly results: BeforeAfter & { readonly count: number }
  /**
   * Tokens of the prompts of all requests: as the provider counted them, and with what was removed.
   * A history counts in each request again.
   */
  readonly requests: BeforeAfter & { readonly count: number }
  /**
   * In uncached input tokens, cached reads at their price; `null` if no answer reported its usage.
   */
  readonly billed: BeforeAfter | null
}

/** The figures of an account, over all tokenizers. */
export function figuresOf(account: Account): SavingsFigures {
  const { requests, without_usage, results, usage, removed, billed, without } = account
  const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0)
  const of = Object.values(results)
  const carried = promptTokens(usage)
  return {
    results: {
      count: sum(of.map(({ count }) => count)),
      before: sum(of.map(({ before }) => before)),
      after: sum(of.map(({ after }) => after)),
    },
    requests: {
      count: requests,
      before: carried + sum(Object.values(removed)),
      after: carried,
    },
    billed: requests === without_usage ? null : { before: without, after: billed },
  }
}
