import { describe, expect, it } from 'vitest'
import { billTurns } from '../../../../src/lab/guard/bill.ts'

const PRICES = { cache_read: 0.1, cache_write: 1.25, cache_write_long: 2, output: 5 }
const result = (before: number, after: number, about: object = {}) => {
  return { session: 's', before, after, fetched: 0, ...about }
}

describe('a bill by turns', () => {
  it('writes each result once, and reads it in each later turn', () => {
    const bill = billTurns([result(1000, 100), result(1000, 100), result(1000, 100)], PRICES)
    // Written three times, and read twice, once and never.
    expect(bill.before).toBeCloseTo(1000 * (3 * 1.25 + 3 * 0.1))
    expect(bill.after).toBeCloseTo(bill.before / 10)
    expect(bill.fetching).toBe(0)
  })

  it('reads nothing of what was before a compaction, or in another conversation', () => {
    const apart = [
      result(1000, 100, { epoch: 0 }),
      result(1000, 100, { epoch: 1 }),
      result(1000, 100, { session: 'other' }),
      result(1000, 100, { session: undefined }),
      result(1000, 100, { session: undefined }),
    ]
    expect(billTurns(apart, PRICES).before).toBeCloseTo(1000 * 5 * 1.25)
  })

  it('takes a turn over the whole prompt for what is fetched', () => {
    const bill = billTurns([result(1000, 100, { fetched: 500 }), result(1000, 100)], PRICES)
    const text = 500 * (1.25 + 0.1)
    const turn = 0.1 * (15_000 + 100) + 5 * 100 + 150
    expect(bill.fetching).toBeCloseTo(text + turn)
    expect(bill.after).toBeCloseTo(100 * (2 * 1.25 + 0.1) + text + turn)
  })

  it('may be higher than without', () => {
    const bill = billTurns([result(200, 100, { fetched: 200 })], PRICES)
    expect(bill.after).toBeGreaterThan(bill.before)
  })
})
