import { describe, expect, it } from 'vitest'
import { createPrices } from '../../../../src/core/pipeline/prices.ts'
import type { TokenizerId } from '../../../../src/core/tokens/profiles.ts'

/** Counters of characters that note what they count. */
function noting({ cl100k = (text: string) => text.length } = {}) {
  const counted: string[] = []
  const get = (id: TokenizerId) => {
    const count = (text: string) => {
      counted.push(`${id} ${text}`)
      return id === 'cl100k_base' ? cl100k(text) : text.length
    }
    return { id, exact: id.endsWith('_base'), count, countUpTo: count }
  }
  return { counted, counters: { get } }
}

describe('the price of a candidate', () => {
  it.each([
    ['o200k_base', []],
    ['anthropic_class', ['cl100k_base']],
    ['o200k_estimate', ['cl100k_base']],
    ['ollama_bpe', ['o200k_base', 'cl100k_base']],
  ] as const)('in %s is agreed to by those that count otherwise', (id, witnesses) => {
    const { counted, counters } = noting()
    expect(createPrices('content', id, counters).price('text')).toBe(4)
    const expected = [id, ...witnesses].flatMap(each => [`${each} content`, `${each} text`])
    expect(counted.toSorted()).toEqual(expected.toSorted())
  })

  it('is none if one of them sees no saving', () => {
    const { counters } = noting({ cl100k: text => 10 - text.length })
    const prices = createPrices('content', 'anthropic_class', counters)
    expect(prices.price('text')).toBeNull()
  })
})
