import { z } from 'zod'
import type { RewriteReport } from '../../core/contract/operation-result.ts'
import { costOf, type TokenPrices } from '../../core/conversation/usage/billing.ts'
import {
  HOUR_MS,
  mayTakeHour,
  SHORT_LIFE_MS,
  USUAL_BUDGET,
} from '../../core/conversation/usage/life-rules.ts'
import { promptTokens, type TokenUsage } from '../../core/conversation/usage/token-usage.ts'
import { type Guard, missReason, type SeenPrompt } from './seen-prompt.ts'

const count = z.int().nonnegative()

/** What pauses cost, and what we paid and got for bridging them. */
export const lifeSchema = z.object({
  /** See `PauseSums`; of requests whose cache is a matter of lives. */
  bridged: count,
  written: count,
  /** Requests of ours that kept a cache alive. */
  pings: count,
  /** In uncached input tokens: for an hour instead of minutes, for pings, and what was avoided. */
  premium: z.number(),
  pinged: z.number(),
  avoided: z.number(),
  /** What `cache_life.life = "auto"` would have saved a client that caches for five minutes. */
  guarded: z.number().default(0),
})

export type LifeAccount = Readonly<z.output<typeof lifeSchema>>

export const NO_LIFE: LifeAccount = {
  bridged: 0,
  written: 0,
  pings: 0,
  premium: 0,
  pinged: 0,
  avoided: 0,
  guarded: 0,
}

/** What we gained by it; below 0 it was a loss. */
export function netOf({ premium, pinged, avoided }: LifeAccount): number {
  return avoided - premium - pinged
}

/** What is known of an answered request. */
interface LifeTerms {
  readonly usage: TokenUsage
  readonly before: SeenPrompt | null
  readonly report: Pick<RewriteReport, 'print' | 'prefix_changed' | 'levers'>
  /** How often its cache was kept alive since the request before. */
  readonly pings: number
}

/** The account of one request: what was written and kept, and the premium of a life of ours. */
export function lifeOf(terms: LifeTerms, prices: TokenPrices): LifeAccount {
  const { usage, before, report, pings } = terms
  const { print, levers } = report
  const all = usage.cache_write + usage.cache_write_long
  const isOurs = levers?.includes('life') === true
  const premium = isOurs
    ? usage.cache_write_long * (prices.cache_write_long - prices.cache_write)
    : 0
  if (print === undefined) return NO_LIFE
  const { saved: guarded } = guardedBy(terms, prices)
  const kept = keptFor(terms)
  if (kept === null) return { ...NO_LIFE, written: all, premium, guarded }
  const written = Math.max(0, promptTokens(usage) - usage.uncached - kept)
  const isKept = pings > 0 || (before!.life_ms >= HOUR_MS && isOurs)
  const avoided = isKept ? Math.min(kept, usage.cache_read) : 0
  return {
    ...NO_LIFE,
    bridged: kept,
    written,
    premium,
    guarded,
    avoided: avoided * (prices.cache_write - prices.cache_read),
  }
}

/** What an hour would have kept in the pause before; `null`: the pause was none that it bridges. */
function keptFor({ usage, before, report }: LifeTerms): number | null {
  const { print, prefix_changed } = report
  const idle = before === null || print === undefined ? 0 : print.at - before.at
  if (before === null || idle <= SHORT_LIFE_MS || idle > HOUR_MS) return null
  const reason = missReason({ ...before, life_ms: HOUR_MS }, print!, prefix_changed === true)
  return reason === 'provider' ? Math.min(before.cached, promptTokens(usage)) : 0
}

const NO_GUARD: Guard = { isLong: false, premium: 0, spent: 0 }

/** What a guarded hour would have saved a request, and what it would have come to by then. */
export function guardedBy(
  terms: LifeTerms,
  prices: TokenPrices,
): { readonly saved: number; readonly guard: Guard } {
  const { usage, before, report } = terms
  const { isLong: wasLong, premium, spent } = before?.guard ?? NO_GUARD
  const kept = wasLong ? keptFor(terms) : null
  const isLate = before !== null && (report.print?.at ?? 0) - before.at > SHORT_LIFE_MS
  const written =
    kept === null
      ? usage.cache_write + usage.cache_write_long
      : Math.max(0, promptTokens(usage) - usage.uncached - kept)
  const more = (prices.cache_write_long - prices.cache_write) * written
  const isPaid = mayTakeHour({ premium: premium + more, spent }, USUAL_BUDGET)
  const isLong = (wasLong || isLate) && isPaid
  const extra = isLong ? more : 0
  const saved = (kept ?? 0) * (prices.cache_write - prices.cache_read) - extra
  const cost = costOf({ ...usage, output: 0 }, prices)
  return { saved, guard: { isLong, premium: premium + extra, spent: spent + cost - saved } }
}
