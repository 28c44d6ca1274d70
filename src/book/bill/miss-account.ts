import type { RewriteReport } from '../../core/contract/operation-result.ts'
import { costOf, type TokenPrices, withCacheRead } from '../../core/conversation/usage/billing.ts'
import { promptTokens, type TokenUsage } from '../../core/conversation/usage/token-usage.ts'
import { type Misses, type MissReason, NO_MISSES } from './misses.ts'
import { missReason, type SeenPrompt } from './seen-prompt.ts'

/** Fewer tokens, and a smaller share of those that were cached, are no miss. */
const LEAST_TOKENS = 1_024
const LEAST_SHARE = 0.05

/** Whether so many tokens of those that were cached are a miss. */
export function isMiss(tokens: number, cached: number): boolean {
  return tokens >= LEAST_TOKENS && tokens >= LEAST_SHARE * cached
}

/** A miss with its only reason; none if all was read that was cached. */
export function missesOf(
  usage: TokenUsage,
  before: SeenPrompt | null,
  { print, prefix_changed }: Pick<RewriteReport, 'print' | 'prefix_changed'>,
  prices: TokenPrices,
): Misses {
  // The first request of a conversation has nothing cached.
  if (before === null || print === undefined || print.next === null) return NO_MISSES
  const cached = Math.min(before.cached, promptTokens(usage))
  const tokens = cached - usage.cache_read
  if (!isMiss(tokens, cached)) return NO_MISSES
  const reason = missReason(before, print, prefix_changed === true)
  if (reason === null) return NO_MISSES
  const cost = costOf(usage, prices) - costOf(withCacheRead(usage, cached), prices)
  return { [reason]: { count: 1, tokens, cost } }
}

/** Where a conversation changed that its cache was lost by, and what was there; no text. */
export interface Change {
  readonly place: string
  readonly kind: string
}

const PLACED: ReadonlySet<MissReason> = new Set(['tools', 'system', 'first_message', 'history'])

/** @returns `undefined` for a miss that no change of the client caused */
export function changeOf(
  misses: Misses,
  { head_change: change }: Pick<RewriteReport, 'head_change'>,
): Change | undefined {
  const place = (Object.keys(misses) as MissReason[]).find(each => PLACED.has(each))
  if (place === undefined) return undefined
  const all = change === undefined ? [] : [change, ...(change.also ?? [])]
  const kind = all.find(each => each.place === place)?.kind ?? 'other'
  return { place, kind }
}
