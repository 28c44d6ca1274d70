import { DEFAULT_PIPELINE } from '../../pipeline/profile/default-pipeline.ts'
import type { TokenPrices } from './billing.ts'

/** Anthropic's lives of a cache entry: the usual one, and the one that a request may ask for. */
export const SHORT_LIFE_MS = 300_000
export const HOUR_MS = 3_600_000
/** What OpenAI may be asked for. */
export const DAY_MS = 24 * HOUR_MS
/** The price of a token that is written for an hour, by all rules of `prices.toml`. */
export const HOUR_WRITE = 2
/** A ping is sent so long after the start of a request, which the life counts from. */
export const PING_AFTER_MS = 280_000

/** What lives may cost of a conversation's input if nothing else is configured. */
export const USUAL_BUDGET = DEFAULT_PIPELINE.cache_life.budget

/** What a conversation showed, in tokens of its prompts. */
export interface PauseSums {
  readonly requests: number
  /** Cached before pauses that an hour bridges, and the usual life does not. */
  readonly bridged: number
  /** Written to the cache besides. */
  readonly written: number
}

type LifePrices = Pick<TokenPrices, 'cache_read' | 'cache_write' | 'cache_write_long'>

/** Fewer conversations say nothing; earlier ones than the last twenty are forgotten. */
export const FEWEST_CONVERSATIONS = 5
export const MOST_CONVERSATIONS = 20
/** Short conversations end before a longer life has paid. */
const LEAST_REQUESTS = 20

/** Whether an hour would have cost less in the last conversations of a key and kind of agent. */
export function hourPays(all: readonly PauseSums[], prices: LifePrices): boolean {
  const last = all.slice(0, MOST_CONVERSATIONS)
  const requests = last.map(each => each.requests).sort((a, b) => a - b)
  const median = requests[requests.length >> 1] ?? 0
  if (last.length < FEWEST_CONVERSATIONS || median < LEAST_REQUESTS) return false
  return hourSaves(last, prices) > 0
}

/** What an hour would have saved, in uncached input tokens; below 0 if it costs more. */
export function hourSaves(all: readonly PauseSums[], prices: LifePrices): number {
  const { cache_read: read, cache_write: write, cache_write_long: long } = prices
  const sum = (of: 'bridged' | 'written') => all.reduce((total, each) => total + each[of], 0)
  return sum('bridged') * (write - read) - sum('written') * (long - write)
}

/**
 * Whether the premium of an hour, that of the next write included, stays within the budget: a share
 * of what the conversation's input has cost.
 */
export function mayTakeHour(
  { premium, spent }: { readonly premium: number; readonly spent: number },
  budget: number,
): boolean {
  return premium <= budget * spent
}

/** Shorter prompts are not worth a ping. */
const LEAST_PING_TOKENS = 40_000

/**
 * Whether one more ping stays within the budget, all costs in uncached input tokens.
 * @param conversation with what pings cost it so far, less what they spared it
 */
export function mayPing(
  conversation: { readonly prompt: number; readonly pinged: number; readonly spent: number },
  readPrice: number,
  budget: number,
): boolean {
  const { prompt, pinged, spent } = conversation
  return prompt >= LEAST_PING_TOKENS && pinged + readPrice * prompt <= budget * spent
}
