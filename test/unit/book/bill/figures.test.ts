import { describe, expect, it } from 'vitest'
import {
  type Account,
  accountSchema,
  addAccounts,
  NO_ACCOUNT,
} from '../../../../src/book/bill/account.ts'
import { figuresOf } from '../../../../src/book/bill/figures.ts'
import { summaryLines } from '../../../../src/cli/run/summary.ts'

const usage = { uncached: 100, cache_read: 800, cache_write: 60, cache_write_long: 40, output: 9 }
const ONE: Account = {
  ...NO_ACCOUNT,
  requests: 1,
  results: { o200k_base: { count: 2, before: 500, after: 200 } },
  usage,
  removed: { o200k_base: 300 },
  billed: 400,
  without: 700,
}
/** A later request of the same conversation: its history is removed from it again. */
const LATER: Account = { ...ONE, results: { claude: { count: 1, before: 50, after: 50 } } }
const WITHOUT_USAGE: Account = {
  ...NO_ACCOUNT,
  requests: 1,
  without_usage: 1,
  results: { o200k_base: { count: 1, before: 10, after: 8 } },
}

describe('the three figures', () => {
  it('count results once, requests each, and bills as they are', () => {
    expect(figuresOf(addAccounts(ONE, LATER))).toEqual({
      results: { count: 3, before: 550, after: 250 },
      requests: { count: 2, before: 2_600, after: 2_000 },
      billed: { before: 1_400, after: 800 },
    })
  })

  it('know no bill without usage, but the results', () => {
    const figures = figuresOf(addAccounts(WITHOUT_USAGE, WITHOUT_USAGE))
    expect(figures.billed).toBeNull()
    expect(figures.results).toEqual({ count: 2, before: 20, after: 16 })
  })

  it('are read of ledgers that have no results yet', () => {
    const { results: _, ...earlier } = NO_ACCOUNT
    expect(accountSchema.parse(earlier)).toEqual(NO_ACCOUNT)
  })
})

describe('the lines of a summary', () => {
  const lines = (account: Account, untouched = {}) =>
    summaryLines({ figures: figuresOf(account), untouched, placed: 0, refused: [] })

  it('are the three figures', () => {
    expect(lines(ONE)).toEqual([
      'results:  500 → 200 tokens (−60.0 %) in 2 tool results, each once',
      'requests: 1,300 → 1,000 tokens (−23.1 %) in 1 model requests',
      'billed:   700 → 400 tokens (−42.9 %) at the price of uncached input',
    ])
  })

  it('say how many requests got a cache breakpoint', () => {
    const lines = summaryLines({ figures: figuresOf(ONE), untouched: {}, placed: 3, refused: [] })
    expect(lines).toContain(
      'cache:    3 model requests without a cache breakpoint got one (cache_life.place)',
    )
  })

  it('show what costs more as more', () => {
    expect(lines({ ...ONE, billed: 770 })[2]).toContain('(+10.0 %)')
  })

  it('say what was not answered, and blame no setting for it', () => {
    const host = 'api.example.com'
    const refused = [
      ...Array.from({ length: 7 }, () => ({ host, status: 401, error: null })),
      { host: '127.0.0.1:9', status: 502, error: 'ECONNREFUSED' },
      { host, status: null, error: 'aborted' },
    ]
    const told = (account: Account, of: typeof refused) =>
      summaryLines(
        { figures: figuresOf(account), untouched: {}, placed: 0, refused: of },
        'a setting',
      )
    expect(told(NO_ACCOUNT, refused.slice(0, 7))).toEqual([
      '7 model requests came, none was answered: 7 × 401 from api.example.com',
    ])
    expect(told(ONE, refused)).toContain(
      '9 model requests more came without an answer: 7 × 401 from api.example.com, ' +
        '1 × no answer from 127.0.0.1:9 (ECONNREFUSED), 1 × ended by the command',
    )
    expect(told(NO_ACCOUNT, [])).toEqual([expect.stringContaining('a setting')])
  })

  it('say why nothing was saved', () => {
    const same = { o200k_base: { count: 1, before: 50, after: 50 } }
    const none = { ...ONE, removed: {}, results: same }
    expect(lines(none).at(-1)).toBe('nothing was saved: no tool result has a smaller form')
    expect(lines({ ...none, results: {} }).at(-1)).toBe('nothing was saved: no tool result came')
    expect(lines({ ...none, results: {} }, { signed: 2, failed: 0 }).at(-1)).toBe(
      'nothing was saved: requests were left as they came (2 signed)',
    )
    expect(lines(NO_ACCOUNT)).toEqual([expect.stringContaining('no model request')])
  })
})
