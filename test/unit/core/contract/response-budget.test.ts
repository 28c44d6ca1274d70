import { describe, expect, it } from 'vitest'
import { readResponseBudget } from '../../../../src/core/contract/response-budget.ts'

describe('a wish in a header', () => {
  it.each([
    ['compact', 'compact'],
    [' Standard ', 'standard'],
    ['FULL', 'full'],
    ['1', 1],
    ['800', 800],
    ['10000000', 10_000_000],
  ])('%s is %s', (text, wish) => expect(readResponseBudget(text)).toBe(wish))

  it.each(['', '0', '-5', '1.5', '1e3', '007', 'tiny', '10000001', '99999999999', '__proto__'])(
    '%j is none',
    text => expect(readResponseBudget(text)).toBeNull(),
  )
})
