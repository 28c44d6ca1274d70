import { readFileSync } from 'node:fs'
import { parse } from 'smol-toml'
import { z } from 'zod'
import { type PriceRule, pricesFor, type TokenPrices } from '../core/conversation/usage/billing.ts'
import { VENDOR_NAMES, type VendorName } from '../core/dialects/lookup.ts'
import type { Config } from './config.ts'

/** The prices that vendors publish; the package has them beside its code. */
const BUILT_IN = new URL('../../prices.toml', import.meta.url)
const CURRENCY = 'USD'

const price = z.number().min(0).max(10_000)

const priceFile = z.strictObject({
  price: z.array(
    z.strictObject({
      vendor: z.enum(VENDOR_NAMES),
      model: z.string().min(1).max(256).optional(),
      relative: z.literal(true).optional(),
      uncached: price.positive(),
      cached: price,
      written: price,
      written_long: price,
      output: price,
      cache_life_seconds: z.int().positive(),
      date: z.iso.date(),
      source: z.url({ protocol: /^https$/ }),
    }),
  ),
})

let known: readonly PriceRule[] | undefined

/** The prices of `prices.toml`, read once. @throws ZodError if the file is not one of prices */
export function builtInPrices(): readonly PriceRule[] {
  known ??= readPrices(readFileSync(BUILT_IN, 'utf8'))
  return known
}

/** @param text of a file like `prices.toml` */
export function readPrices(text: string): readonly PriceRule[] {
  return priceFile.parse(parse(text)).price.map(each => {
    const { vendor, model, relative, uncached, cache_life_seconds } = each
    return {
      vendor,
      model,
      cache_read: each.cached / uncached,
      cache_write: each.written / uncached,
      cache_write_long: each.written_long / uncached,
      output: each.output / uncached,
      ...(relative === undefined && { per_million: uncached }),
      cache_life_seconds,
    }
  })
}

/** The prices in force. Those of the file are in dollars, and say nothing of another money. */
export function priceList({ currency, prices }: Pick<Config['savings'], 'currency' | 'prices'>) {
  const builtIn =
    currency === CURRENCY
      ? builtInPrices()
      : builtInPrices().map(({ per_million: _, ...relative }) => relative)
  return { currency, builtIn, prices }
}

/** The published prices of a vendor's models in general. */
export function vendorPrices(vendor: VendorName): TokenPrices {
  return pricesFor(vendor, undefined, [builtInPrices()])
}
