import { describe, expect, it } from 'vitest'
import { CONSTRUCTS, READING_LEVELS, usualPrice } from '../../../../src/core/reading/constructs.ts'
import { createReading, priceOfUse, readingPrice } from '../../../../src/core/reading/price.ts'

const [plain, balanced, dense] = READING_LEVELS.map(level => createReading(level))

describe('prices of reading', () => {
  it('are per text, per written token and per use', () => {
    expect(readingPrice(balanced!, {}, 1_000)).toBe(0)
    expect(readingPrice(balanced!, { heading: 3, indented_heading: 1 }, 200)).toBe(190)
    expect(readingPrice(balanced!, { template: 2, template_switch: 7 }, 100)).toBe(117)
    expect(readingPrice(balanced!, { text_form: 1 }, 100)).toBe(30)
    expect(readingPrice(balanced!, { numbered: 9, times: 4 }, 100)).toBe(0)
  })

  it('are twice as high in plain texts, and zero in dense ones', () => {
    for (const construct of CONSTRUCTS) {
      const uses = { [construct]: 2 }
      const price = readingPrice(balanced!, uses, 100)
      expect(readingPrice(dense!, uses, 100)).toBe(0)
      expect([2 * price, Infinity]).toContain(readingPrice(plain!, uses, 100))
    }
  })

  it('rule out what a level never uses', () => {
    const never = CONSTRUCTS.filter(construct => plain!.prices[construct] === null)
    expect(never).toEqual([
      'template',
      'sign',
      'short_reference',
      'tiny_reference',
      'affix_number',
      'shape',
    ])
    expect(readingPrice(plain!, { sign: 1 }, 1)).toBe(Infinity)
    expect(priceOfUse(balanced!, 'tiny_reference')).toBe(Infinity)
    expect(readingPrice(dense!, { tiny_reference: 5 }, 1)).toBe(0)
  })

  it('are overridden by name, one number or in parts', () => {
    const { prices } = createReading('plain', { heading: 7, sign: 1, template_switch: { each: 4 } })
    expect(prices.heading).toEqual({ text: 14, share: 0, each: 0 })
    expect(prices.template_switch).toEqual({ text: 0, share: 0, each: 8 })
    expect(prices.sign).toBeNull()
  })

  it('never let a construct appear because its price rises', () => {
    for (const construct of CONSTRUCTS) {
      const { text, share, each } = usualPrice(construct)
      const dearer = createReading('balanced', {
        [construct]: { text: text + 1, share, each: each + 1 },
      })
      for (const other of CONSTRUCTS) {
        const before = readingPrice(balanced!, { [other]: 1 }, 50)
        const after = readingPrice(dearer, { [other]: 1 }, 50)
        if (other === construct) expect(after).toBeGreaterThanOrEqual(before)
        else expect(after).toBe(before)
      }
    }
  })
})
