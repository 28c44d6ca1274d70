import { z } from 'zod'
import type { RewriteReport } from '../core/contract/operation-result.ts'
import type { TokenPrices } from '../core/conversation/usage/billing.ts'
import { HOUR_MS, SHORT_LIFE_MS } from '../core/conversation/usage/life-rules.ts'
import { promptTokens, type TokenUsage } from '../core/conversation/usage/token-usage.ts'
import { missReason, type SeenPrompt } from './seen-prompt.ts'

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
})

export type LifeAccount = Readonly<z.output<typeof lifeSchema>>

export const NO_LIFE: LifeAccount = {
  ...{ bridged: 0, written: 0, pings: 0 },
  ...{ premium: 0, pinged: 0, avoided: 0 },
}

export function addLife(a: LifeAccount, b: LifeAccount): LifeAccount {
  return {
    bridged: a.bridged + b.bridged,
    written: a.written + b.written,
    pings: a.pings + b.pings,
    premium: a.premium + b.premium,
    pinged: a.pinged + b.pinged,
    avoided: a.avoided + b.avoided,
  }
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
export function lifeOf(
  { usage, before, report, pings }: LifeTerms,
  prices: TokenPrices,
): LifeAccount {
  const { print, levers } = report
  const all = usage.cache_write + usage.cache_write_long
  const isOurs = levers?.includes('life') === true
  const premium = isOurs
    ? usage.cache_write_long * (prices.cache_write_long - prices.cache_write)
    : 0
  if (print === undefined) return NO_LIFE
  const idle = before === null ? 0 : print.at - before.at
  if (before === null || idle <= SHORT_LIFE_MS || idle > HOUR_MS) {
    return { ...NO_LIFE, written: all, premium }
  }
  const reason = missReason({ ...before, life_ms: HOUR_MS }, print, report.prefix_changed === true)
  const kept = reason === 'provider' ? Math.min(before.cached, promptTokens(usage)) : 0
  const written = Math.max(0, promptTokens(usage) - usage.uncached - kept)
  const isKept = pings > 0 || (before.life_ms >= HOUR_MS && isOurs)
  const avoided = isKept ? Math.min(kept, usage.cache_read) : 0
  return {
    ...NO_LIFE,
    ...{ bridged: kept, written, premium },
    avoided: avoided * (prices.cache_write - prices.cache_read),
  }
}
