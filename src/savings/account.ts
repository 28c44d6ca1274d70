import { z } from 'zod'
import { addUsage, NO_USAGE } from '../core/conversation/usage/token-usage.ts'

const count = z.int().nonnegative()
const amount = z.number()

/** Sums over requests; all of them can be added. */
export const accountSchema = z.object({
  /** Requests that the vendor answered. */
  requests: count,
  /** Those of them whose answers did not report usage. They are not part of the sums below. */
  without_usage: count,
  usage: z.object({
    uncached: count,
    cache_read: count,
    cache_write: count,
    cache_write_long: count,
    output: count,
  }),
  /**
   * Tokens that requests were spared, by tokenizer; a history is counted again in each turn.
   */
  removed: z.record(z.string(), count),
  /** In uncached input tokens. */
  billed: amount,
  without: amount,
  /** In money, over the requests whose price is known. */
  money: z.object({ requests: count, billed: amount, without: amount }),
})

export type Account = Readonly<z.output<typeof accountSchema>>

export const NO_ACCOUNT: Account = {
  requests: 0,
  without_usage: 0,
  usage: NO_USAGE,
  removed: {},
  billed: 0,
  without: 0,
  money: { requests: 0, billed: 0, without: 0 },
}

export function addAccounts(a: Account, b: Account): Account {
  const removed = { ...a.removed }
  for (const [id, tokens] of Object.entries(b.removed)) removed[id] = (removed[id] ?? 0) + tokens
  return {
    requests: a.requests + b.requests,
    without_usage: a.without_usage + b.without_usage,
    usage: addUsage(a.usage, b.usage),
    removed,
    billed: a.billed + b.billed,
    without: a.without + b.without,
    money: {
      requests: a.money.requests + b.money.requests,
      billed: a.money.billed + b.money.billed,
      without: a.money.without + b.money.without,
    },
  }
}
