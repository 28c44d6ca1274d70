import { z } from 'zod'
import type { RewriteReport } from '../../core/contract/operation-result.ts'
import { billRequest, type TokenPrices } from '../../core/conversation/usage/billing.ts'
import { promptTokens, type TokenUsage } from '../../core/conversation/usage/token-usage.ts'

const count = z.int().nonnegative()

/** What definitions of tools cost; those of a list count in each request again. */
export const definitionsSchema = z.object({
  /** Requests whose definitions were counted. */
  requests: count,
  /** Their tokens, as clients sent them, and the part of tools that were called. */
  tokens: count,
  used: count,
  /** Tokens that deferred tools spared, less what was added for it. */
  deferred: z.int(),
  searches: count,
  /** In uncached input tokens: what was spared, and what searches cost. */
  spared: z.number(),
  searched: z.number(),
})

export type DefinitionsAccount = Readonly<z.output<typeof definitionsSchema>>

export const NO_DEFINITIONS: DefinitionsAccount = {
  requests: 0,
  tokens: 0,
  used: 0,
  deferred: 0,
  searches: 0,
  spared: 0,
  searched: 0,
}

/**
 * The account of one request. Each search is one request more, which reads the prompt once more
 * from the cache; its output does not count.
 */
export function definitionsOf(
  usage: TokenUsage,
  { definitions, saved = [] }: Pick<RewriteReport, 'definitions' | 'saved'>,
  prices: TokenPrices,
): DefinitionsAccount {
  if (definitions === undefined) return NO_DEFINITIONS
  const { tokens, used, deferred, searches } = definitions
  // What is spared of tools is at the first place.
  const places = deferred === 0 ? [] : [{ at: saved[0]?.at ?? 0, tokens: deferred, messages: 0 }]
  const bill = billRequest({ usage, saved: places, lostCache: 0 }, prices)
  return {
    requests: 1,
    tokens,
    used,
    deferred,
    searches,
    spared: bill.without - bill.billed,
    searched: searches * promptTokens(usage) * prices.cache_read,
  }
}
