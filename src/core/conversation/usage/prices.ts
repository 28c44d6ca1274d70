import { bareModelName } from '../../tokens/resolve.ts'
import type { TokenUsage, UsageKind } from './token-usage.ts'

/** Whose prices they are. */
export type PricedVendor = 'anthropic' | 'openai'

/** What tokens cost, in uncached input tokens of the same model. */
export type TokenPrices = Readonly<Record<Exclude<UsageKind, 'uncached'>, number>> & {
  /** Of a million uncached input tokens, in money; absent if it is not known. */
  readonly per_million?: number | undefined
}

/** Prices for a vendor's models whose name begins so; for all of them without `model`. */
export type PriceRule = { readonly [price in keyof TokenPrices]?: number | undefined } & {
  readonly vendor: PricedVendor
  readonly model?: string | undefined
}

/**
 * What both vendors publish. If their models differ, the price by which less is saved: OpenAI's
 * cached input costs up to half as much as other input, and writing to its cache costs nothing more
 * with most models.
 */
export const DEFAULT_PRICES: Readonly<Record<PricedVendor, TokenPrices>> = {
  anthropic: { cache_read: 0.1, cache_write: 1.25, cache_write_long: 2, output: 5 },
  openai: { cache_read: 0.1, cache_write: 1, cache_write_long: 1, output: 8 },
}

/**
 * The prices of a model: for each price the longest rule that has it, else the vendor's.
 * @param model as the provider names it; looked up without vendor, region and route, in any letter
 * case
 */
export function pricesFor(
  vendor: PricedVendor,
  model: string | undefined,
  rules: readonly PriceRule[],
): TokenPrices {
  const name = model === undefined ? '' : bareModelName(model)
  const fitting = rules
    .filter(rule => rule.vendor === vendor && name.startsWith((rule.model ?? '').toLowerCase()))
    .sort((a, b) => (a.model ?? '').length - (b.model ?? '').length)
  const prices: TokenPrices = { ...DEFAULT_PRICES[vendor] }
  for (const { vendor: _vendor, model: _model, ...said } of fitting) {
    Object.assign(
      prices,
      Object.fromEntries(Object.entries(said).filter(([, price]) => price !== undefined)),
    )
  }
  return prices
}

/** What the tokens cost, in uncached input tokens. */
export function costOf(usage: TokenUsage, prices: TokenPrices): number {
  return (
    usage.uncached +
    usage.cache_read * prices.cache_read +
    usage.cache_write * prices.cache_write +
    usage.cache_write_long * prices.cache_write_long +
    usage.output * prices.output
  )
}
