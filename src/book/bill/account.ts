import { z } from 'zod'
import { addFields } from '../../core/base/add-fields.ts'
import { NO_USAGE } from '../../core/conversation/usage/token-usage.ts'
import { definitionsSchema, NO_DEFINITIONS } from './definitions-account.ts'
import { lifeSchema, NO_LIFE } from './life-account.ts'
import { addMisses, missesSchema, NO_MISSES } from './misses.ts'

const count = z.int().nonnegative()
const amount = z.number()

const results = z.object({ count, before: count, after: count })

/** Sums over requests; all of them can be added. */
export const accountSchema = z.object({
  /** Requests that the vendor answered. */
  requests: count,
  /** Those of them whose answers did not report usage. They are not part of the sums below. */
  without_usage: count,
  /**
   * Tool results by tokenizer, each once: how many, and their tokens from the client and to the
   * vendor. Of requests without usage, too. Ledgers of earlier versions have none.
   */
  results: z.record(z.string(), results).default({}),
  usage: z.object({
    uncached: count,
    cache_read: count,
    cache_write: count,
    cache_write_long: count,
    output: count,
  }),
  /**
   * Tokens that requests were spared, by tokenizer; a history is counted again in each turn. What
   * we added counts against it, so it may be below 0.
   */
  removed: z.record(z.string(), z.int()),
  /** What was cached and not read, by reason. */
  misses: missesSchema.default({}),
  /** What lives of caches cost and brought; ledgers of earlier versions have none. */
  life: lifeSchema.default(NO_LIFE),
  /** What definitions of tools cost; ledgers of earlier versions have none. */
  definitions: definitionsSchema.default(NO_DEFINITIONS),
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
  results: {},
  usage: NO_USAGE,
  removed: {},
  misses: NO_MISSES,
  life: NO_LIFE,
  definitions: NO_DEFINITIONS,
  billed: 0,
  without: 0,
  money: { requests: 0, billed: 0, without: 0 },
}

const NO_RESULTS = { count: 0, before: 0, after: 0 }

export function addAccounts(a: Account, b: Account): Account {
  const removed = { ...a.removed }
  for (const [id, tokens] of Object.entries(b.removed)) removed[id] = (removed[id] ?? 0) + tokens
  const results = { ...a.results }
  for (const [id, more] of Object.entries(b.results)) {
    results[id] = addFields(results[id] ?? NO_RESULTS, more)
  }
  return {
    requests: a.requests + b.requests,
    without_usage: a.without_usage + b.without_usage,
    results,
    usage: addFields(a.usage, b.usage),
    removed,
    misses: addMisses(a.misses, b.misses),
    life: addFields(a.life, b.life),
    definitions: addFields(a.definitions, b.definitions),
    billed: a.billed + b.billed,
    without: a.without + b.without,
    money: addFields(a.money, b.money),
  }
}
