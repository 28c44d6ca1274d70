import { vendorPrices } from '../../config/prices.ts'

/** The sessions' vendor's prices by `prices.toml`, in tokens of input that no cache has. */
const anthropic = vendorPrices('anthropic')

export const READ_PRICE = anthropic.cache_read
export const OUTPUT_PRICE = anthropic.output
/** Written to the cache for minutes, and for an hour. */
export const WRITE_PRICES = { minutes: anthropic.cache_write, hour: anthropic.cache_write_long }
