import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { builtInPrices, priceList, readPrices, vendorPrices } from '../../../src/config/prices.ts'
import {
  cacheLifeOf,
  cacheLivesOf,
  pricesFor,
} from '../../../src/core/conversation/usage/billing.ts'
import { VENDOR_NAMES, type VendorName } from '../../../src/core/dialects/lookup.ts'

const of = (vendor: VendorName, model?: string) => pricesFor(vendor, model, [builtInPrices()])
const life = (vendor: VendorName, model?: string) =>
  cacheLifeOf(cacheLivesOf(vendor, builtInPrices()), model)

describe('prices.toml', () => {
  it('has prices for all models of each vendor, and each prefix once', () => {
    for (const vendor of VENDOR_NAMES) {
      const models = builtInPrices().filter(each => each.vendor === vendor)
      expect(models.filter(({ model }) => model === undefined)).toHaveLength(1)
      expect(new Set(models.map(({ model }) => model)).size).toBe(models.length)
    }
  })

  it('has a price in money unless it is relative', () => {
    for (const { model, per_million } of builtInPrices()) {
      if (model === undefined) expect(per_million).toBeUndefined()
      else if (per_million !== undefined) expect(per_million).toBeGreaterThan(0)
    }
    expect(of('openai', 'gpt-5-2025-08-07').per_million).toBe(1.25)
  })

  it('bills what OpenAI’s caches cost since GPT-5.6, and keep for half an hour', () => {
    for (const model of ['gpt-5.6-sol', 'gpt-5.6', 'gpt-6-sol-2026-09-22', 'gpt-9', undefined]) {
      expect(of('openai', model).cache_write).toBe(1.25)
      expect(life('openai', model)).toBe(1_800)
    }
    for (const model of ['gpt-5.5', 'gpt-5', 'openai/gpt-4o-mini', 'gpt-4.1', 'o3']) {
      expect(of('openai', model).cache_write).toBe(1)
      expect(life('openai', model)).toBe(3_600)
    }
  })

  it('bills models of Anthropic apart', () => {
    expect(of('anthropic', 'claude-opus-5-5')).toMatchObject({ cache_read: 0.05, per_million: 4 })
    expect(of('anthropic', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0')).toMatchObject({
      ...{ per_million: 3, cache_write: 1.25, cache_write_long: 2, output: 5 },
    })
    expect(of('anthropic')).toEqual(vendorPrices('anthropic'))
    expect(life('anthropic', 'claude-opus-5-5')).toBe(300)
  })

  it('is refused with a key that it does not know, or without a source', () => {
    const text = readFileSync(new URL('../../../prices.toml', import.meta.url), 'utf8')
    expect(() => readPrices(text.replace('cached = ', 'cache = '))).toThrow()
    expect(() => readPrices(text.replace(/^source = .*$/m, ''))).toThrow()
  })
})

describe('the prices in force', () => {
  it('are the configured ones, whatever their prefix, over those of the file', () => {
    const prices = [{ vendor: 'openai', cache_write: 1, per_million: 7 }] as const
    const list = priceList({ currency: 'USD', prices: [...prices] })
    const found = pricesFor('openai', 'gpt-6-sol', [list.builtIn, list.prices])
    expect(found).toMatchObject({ cache_write: 1, per_million: 7, cache_read: 0.1 })
  })

  it('say nothing of another money', () => {
    const { builtIn } = priceList({ currency: 'EUR', prices: [] })
    const found = pricesFor('openai', 'gpt-6-sol', [builtIn])
    expect(found).toMatchObject({ cache_write: 1.25 })
    expect(found).not.toHaveProperty('per_million')
  })
})
