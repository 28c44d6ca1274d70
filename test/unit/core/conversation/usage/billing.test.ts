import { describe, expect, it } from 'vitest'
import { builtInPrices, vendorPrices } from '../../../../../src/config/prices.ts'
import {
  type BilledRequest,
  billingVendor,
  billRequest,
  costOf,
  pricesFor,
  reportsWrites,
} from '../../../../../src/core/conversation/usage/billing.ts'
import { NO_USAGE } from '../../../../../src/core/conversation/usage/token-usage.ts'
import { VENDOR_NAMES } from '../../../../../src/core/dialects/lookup.ts'

const PRICES = vendorPrices('anthropic')

/** The usage of 1,000 tokens: 500 read, 100 written for an hour, 300 for minutes, 100 neither. */
const USAGE = {
  uncached: 100,
  cache_read: 500,
  cache_write: 300,
  cache_write_long: 100,
  output: 10,
}

function saving(request: Partial<BilledRequest>): number {
  const { billed, without } = billRequest(
    { usage: USAGE, saved: [], lostCache: 0, ...request },
    PRICES,
  )
  return without - billed
}

describe('the bill of a request', () => {
  it('is what the provider counted, at the prices', () => {
    const bill = billRequest({ usage: USAGE, saved: [], lostCache: 0 }, PRICES)
    expect(bill.billed).toBeCloseTo(100 + 50 + 375 + 200 + 50)
    expect(bill.without).toBe(bill.billed)
  })

  it.each([
    [0.2, 0.1],
    [0.5, 0.1],
    [0.501, 2],
    [0.6, 2],
    [0.601, 1.25],
    [0.9, 1.25],
    [0.901, 1],
    [1, 1],
  ])('takes a token removed before %d of the prompt for one at %d', (at, price) => {
    expect(saving({ saved: [{ at, tokens: 40, messages: 0 }] })).toBeCloseTo(40 * price)
  })

  it.each([
    // 500 tokens were read: all that the prompt before had.
    [0.7, 2, 500, 0.1],
    [0.3, 3, 500, 2],
    [0.95, 3, 500, 1],
    // Less was read than that prompt had.
    [0.7, 2, 700, 1.25],
    [0.55, 2, 700, 2],
    // Nothing is known of its cache.
    [0.7, 2, 0, 1.25],
  ])('knows by the prompt before that %d, message %i of 2, was cached up to %i', (...of) => {
    const [at, messages, cached, price] = of
    const saved = [{ at, tokens: 40, messages }]
    expect(saving({ saved, earlier: { messages: 2, cached } })).toBeCloseTo(40 * price)
  })

  it('adds up what was removed in several places', () => {
    const saved = [
      { at: 0.3, tokens: 1_000, messages: 0 },
      { at: 0.3, tokens: 500, messages: 0 },
      { at: 0.95, tokens: 10, messages: 0 },
    ]
    expect(saving({ saved })).toBeCloseTo(150 + 10)
  })

  it('has nothing saved where nothing was removed', () => {
    expect(saving({})).toBe(0)
    expect(saving({ usage: NO_USAGE })).toBe(0)
  })

  it('is a loss where the provider had more in its cache than it could read', () => {
    // 400 tokens more would have been read at 0.1: 100 of those at 2, 300 of those at 1.25.
    expect(saving({ lostCache: 900 })).toBeCloseTo(40 - 200 - 375)
    // What was removed would have been read, too.
    const saved = [{ at: 0.8, tokens: 1_000, messages: 0 }]
    expect(saving({ lostCache: 900, saved })).toBeCloseTo(40 - 575 + 100)
  })

  it('does not take more for lost than the prompt has, or what was read all the same', () => {
    expect(saving({ lostCache: 1e6 })).toBeCloseTo(50 - 200 - 375 - 100)
    expect(saving({ lostCache: 500 })).toBe(0)
    expect(saving({ lostCache: 550 })).toBeCloseTo(5 - 100)
  })
})

describe('the prices of a model', () => {
  const RULES = [
    { vendor: 'anthropic', model: 'claude-haiku', per_million: 1, output: 4 },
    { vendor: 'anthropic', per_million: 3, cache_read: 0.2 },
    { vendor: 'anthropic', model: 'claude-haiku-4', output: 6 },
    { vendor: 'openai', model: 'GPT-4o', cache_read: 0.5, output: 4 },
  ] as const

  it('are the defaults of its vendor where nothing is configured', () => {
    const layers = [builtInPrices(), RULES]
    expect(pricesFor('anthropic', 'claude-x', [builtInPrices()])).toEqual(vendorPrices('anthropic'))
    expect(pricesFor('openai', undefined, layers)).toEqual(vendorPrices('openai'))
  })

  it('are for each what the longest rule says, whatever the order', () => {
    const model = 'us.anthropic.claude-haiku-4-5-20251001-v1:0'
    const expected = { ...vendorPrices('anthropic'), per_million: 1, cache_read: 0.2, output: 6 }
    expect(pricesFor('anthropic', model, [builtInPrices(), RULES])).toEqual(expected)
    expect(pricesFor('anthropic', model, [builtInPrices(), RULES.toReversed()])).toEqual(expected)
    expect(pricesFor('openai', 'openai/gpt-4o-mini', [builtInPrices(), RULES]).cache_read).toBe(0.5)
    expect(pricesFor('openai', 'claude-haiku', [builtInPrices(), RULES]).output).toBe(8)
  })

  it('are in uncached input tokens', () => {
    expect(costOf({ ...NO_USAGE, uncached: 7 }, PRICES)).toBe(7)
  })
})

describe('the vendor whose prices a request has', () => {
  it.each([
    ['google', 'gemini_generate', 'gemini-3-pro', 'google'],
    ['google', 'anthropic_messages', 'claude-sonnet-4@20250514', 'anthropic'],
    ['amazon', 'bedrock_converse', 'us.anthropic.claude-sonnet-4-v1:0', 'anthropic'],
    ['amazon', 'bedrock_converse', 'amazon.nova-pro-v1:0', 'amazon'],
    ['amazon', 'bedrock_converse', undefined, 'amazon'],
    ['openai', 'openai_chat', 'claude-sonnet-4', 'openai'],
    ['anthropic', 'anthropic_messages', undefined, 'anthropic'],
  ] as const)('of %s, %s and %s is %s', (vendor, route, model, expected) => {
    expect(billingVendor(vendor, route, model)).toBe(expected)
  })

  it('says what it wrote to its cache, or only what it read', () => {
    expect(VENDOR_NAMES.filter(reportsWrites)).toEqual(['anthropic', 'amazon'])
  })
})
