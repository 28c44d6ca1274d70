import type { SavedPlace } from '../../contract/operation-result.ts'
import type { CacheLife } from '../../contract/request-terms.ts'
import {
  dialectOfBody,
  type RouteName,
  VENDOR_NAMES,
  type VendorName,
  vendorNamed,
} from '../../dialects/lookup.ts'
import { bareModelName } from '../../tokens/profiles.ts'
import { promptTokens, type TokenUsage, type UsageKind } from './token-usage.ts'

/** A request that was answered, as far as its bill goes. */
export interface BilledRequest {
  readonly usage: TokenUsage
  /** The tokens that it was spared, by place. */
  readonly saved: readonly SavedPlace[]
  /**
   * Tokens that the provider had cached of the conversation, if we changed what was sent before;
   * else 0.
   */
  readonly lostCache: number
  /** What of it the provider had answered before; absent: that is not known. */
  readonly earlier?: EarlierPrompt | undefined
}

/** The prompt that a request continues. */
export interface EarlierPrompt {
  /** Its messages after the opening. */
  readonly messages: number
  /** Tokens that the provider had cached from then on. */
  readonly cached: number
}

/** In uncached input tokens of the model. */
export interface Bill {
  /** By the provider's figures. */
  readonly billed: number
  /** The cost of the unchanged request, by our estimate; below `billed` if we did harm. */
  readonly without: number
  /** What the results of each tool saved: a part of `without`. */
  readonly tools: readonly (readonly [tool: string, saved: number])[]
}

/**
 * The bill of a request with and without the proxy (`docs/guide/savings.md`). Without it, each
 * removed token is billed like the place at which it was: in the order of the prompt, first what
 * was read from the cache, then what was written, then the rest.
 */
export function billRequest(request: BilledRequest, prices: TokenPrices): Bill {
  const { usage, saved, lostCache, earlier } = request
  const before = withCacheRead(usage, lostCache)
  let without = costOf(before, prices)
  const tools = new Map<string, number>()
  for (const saving of saved) {
    const { tokens, tools: parts = [] } = saving
    const price = priceAt(placeOf(saving, promptTokens(before), earlier), before, prices)
    without += tokens * price
    for (const [tool, part] of parts) tools.set(tool, (tools.get(tool) ?? 0) + part * price)
  }
  return { billed: costOf(usage, prices), without, tools: [...tools] }
}

/** The same prompt with at least `cached` of its first tokens read from the cache. */
export function withCacheRead(usage: TokenUsage, cached: number): TokenUsage {
  const missing = Math.max(0, Math.min(cached, promptTokens(usage)) - usage.cache_read)
  if (missing === 0) return usage
  const long = Math.min(missing, usage.cache_write_long)
  const short = Math.min(missing - long, usage.cache_write)
  return {
    uncached: usage.uncached - (missing - long - short),
    cache_read: usage.cache_read + missing,
    cache_write: usage.cache_write - short,
    cache_write_long: usage.cache_write_long - long,
    output: usage.output,
  }
}

/**
 * The token of the prompt at which a place ends. A share of bytes is no share of tokens, and most
 * caches end where the prompt before did. So what that prompt had is within what was cached of it,
 * and the rest is after it.
 */
function placeOf(
  { at, messages }: Pick<SavedPlace, 'at' | 'messages'>,
  prompt: number,
  earlier: EarlierPrompt | undefined,
): number {
  const place = at * prompt
  if (earlier === undefined || earlier.cached === 0) return place
  const { cached } = earlier
  return messages <= earlier.messages ? Math.min(place, cached) : Math.max(place, cached + 1)
}

/**
 * The price of the token `place` of the prompt. Cache entries for the long time come before those
 * for the short time.
 */
function priceAt(place: number, usage: TokenUsage, prices: TokenPrices): number {
  const read = usage.cache_read
  const long = read + usage.cache_write_long
  if (place <= read) return prices.cache_read
  if (place <= long) return prices.cache_write_long
  return place <= long + usage.cache_write ? prices.cache_write : 1
}

/** Whether a vendor's answers say what was written to its cache. */
export function reportsWrites(vendor: VendorName): boolean {
  return vendorNamed(vendor).reportsWrites
}

/** Whose prices a model has; those of the first vendor if that is not known. */
export function vendorOf(model: string | undefined): VendorName {
  const name = bareModelName(model ?? '')
  return VENDOR_NAMES.find(each => vendorNamed(each).models.test(name)) ?? VENDOR_NAMES[0]!
}

/**
 * The vendor whose prices a request has. Clouds offer models of several vendors.
 * @param vendor whose API it is sent to
 * @param model the one that its path names
 */
export function billingVendor(
  vendor: VendorName,
  route: RouteName,
  model: string | undefined,
): VendorName {
  if (vendorNamed(vendor).isCloud !== true) return vendor
  const name = bareModelName(model ?? '')
  const offered = VENDOR_NAMES.find(each => {
    const { isOfferedByClouds, models } = vendorNamed(each)
    return isOfferedByClouds && (dialectOfBody(route).vendor.name === each || models.test(name))
  })
  return offered ?? vendor
}

/** Prices of tokens, in uncached input tokens of the same model. */
export type TokenPrices = Readonly<Record<Exclude<UsageKind, 'uncached'>, number>> & {
  /** The price of a million uncached input tokens, in money; absent if it is not known. */
  readonly per_million?: number | undefined
}

/**
 * Prices for a vendor's models whose names have the prefix `model`; without it, for all of them.
 */
export type PriceRule = { readonly [price in keyof TokenPrices]?: number | undefined } & {
  readonly vendor: VendorName
  readonly model?: string | undefined
  /** How long its cache keeps a prefix that is not used. */
  readonly cache_life_seconds?: number | undefined
}

/** Prices of a model of which nothing is known. */
const EQUAL: TokenPrices = { cache_read: 1, cache_write: 1, cache_write_long: 1, output: 1 }

/**
 * The prices of a model: for each price the longest rule that has it.
 * @param model as the provider names it; looked up without vendor, region and route, in any letter
 * case
 * @param layers rules of a later layer take precedence over all of those before
 */
export function pricesFor(
  vendor: VendorName,
  model: string | undefined,
  layers: readonly (readonly PriceRule[])[],
): TokenPrices {
  const prices: TokenPrices = { ...EQUAL }
  for (const rules of layers) {
    for (const rule of fitting(rules, vendor, model)) {
      const { vendor: _vendor, model: _model, cache_life_seconds: _life, ...said } = rule
      Object.assign(
        prices,
        Object.fromEntries(Object.entries(said).filter(([, price]) => price !== undefined)),
      )
    }
  }
  return prices
}

/** The rules for a model, from short to long. */
function fitting(
  rules: readonly PriceRule[],
  vendor: VendorName,
  model: string | undefined,
): readonly PriceRule[] {
  const name = model === undefined ? '' : bareModelName(model)
  return rules
    .filter(rule => rule.vendor === vendor && name.startsWith((rule.model ?? '').toLowerCase()))
    .sort((a, b) => (a.model ?? '').length - (b.model ?? '').length)
}

/** The lives of a vendor's caches, from short prefixes to long, each that differs. */
export function cacheLivesOf(
  vendor: VendorName,
  rules: readonly PriceRule[],
): readonly CacheLife[] {
  const lives: CacheLife[] = []
  const own = rules
    .filter(rule => rule.vendor === vendor)
    .sort((a, b) => (a.model ?? '').length - (b.model ?? '').length)
  for (const { model, cache_life_seconds: seconds } of own) {
    if (seconds === undefined || cacheLifeOf(lives, model) === seconds) continue
    lives.push({ ...(model !== undefined && { model }), seconds })
  }
  return lives
}

/** The life of the cache of a model; `undefined` if nothing is known. */
export function cacheLifeOf(
  lives: readonly CacheLife[],
  model: string | undefined,
): number | undefined {
  const name = model === undefined ? '' : bareModelName(model)
  return lives.findLast(each => name.startsWith((each.model ?? '').toLowerCase()))?.seconds
}

/** The cost of the tokens, in uncached input tokens. */
export function costOf(usage: TokenUsage, prices: TokenPrices): number {
  return (
    usage.uncached +
    usage.cache_read * prices.cache_read +
    usage.cache_write * prices.cache_write +
    usage.cache_write_long * prices.cache_write_long +
    usage.output * prices.output
  )
}
