import { describe, expect, it } from 'vitest'
import { type Account, addAccounts, NO_ACCOUNT } from '../../../../src/book/bill/account.ts'
import type { Budget } from '../../../../src/book/bill/budgets.ts'
import { NO_LIFE } from '../../../../src/book/bill/life-account.ts'
import { sumOfMisses } from '../../../../src/book/bill/misses.ts'
import { savingsAnswer } from '../../../../src/book/bill/savings-answer.ts'
import { type Conversation, emptyBill } from '../../../../src/book/bill/tenant-bill.ts'
import { builtInPrices } from '../../../../src/config/prices.ts'
import {
  savingsAnswer as contract,
  type SavingsQuery,
} from '../../../../src/core/contract/savings.ts'
import { VENDOR_NAMES } from '../../../../src/core/dialects/lookup.ts'

const LIST = { currency: 'EUR', builtIn: builtInPrices(), prices: [] }

const DEFINITIONS = { requests: 3, tokens: 900, used: 90, deferred: 80, searches: 1 }
const ACCOUNT: Account = {
  requests: 4,
  without_usage: 1,
  results: { o200k_base: { count: 2, before: 500, after: 200 } },
  usage: { uncached: 100, cache_read: 20, cache_write: 7, cache_write_long: 5, output: 3 },
  removed: { heuristic: -6, cl100k_base: 0, o200k_base: 300 },
  misses: { idle: { count: 1, tokens: 2_000, cost: 9.06 } },
  life: { ...NO_LIFE, pings: 2, premium: 1.26, pinged: 3.04, avoided: 10.57 },
  definitions: { ...DEFINITIONS, spared: 40.08, searched: 11.12 },
  billed: 150.06,
  without: 400.02,
  money: { requests: 2, billed: 1.23456, without: 3.00004 },
}

const ANSWER = {
  figures: {
    results: { count: 2, before: 500, after: 200 },
    requests: { count: 4, before: 426, after: 132 },
    billed: { before: 400, after: 150.1 },
  },
  requests: 4,
  without_usage: 1,
  usage: {
    ...{ uncached_tokens: 100, cache_read_tokens: 20, cache_write_tokens: 7 },
    ...{ cache_write_long_tokens: 5, output_tokens: 3 },
  },
  removed: [
    { tokenizer: 'o200k_base', exact: true, tokens: 300 },
    { tokenizer: 'heuristic', exact: false, tokens: -6 },
  ],
  misses: [{ reason: 'idle', count: 1, tokens: 2_000, cost: 9.1 }],
  life: { pings: 2, premium: 1.3, pinged: 3, avoided: 10.6, saving: 6.3 },
  definitions: { ...DEFINITIONS, spared: 40.1, searched: 11.1, saving: 29 },
  input_tokens: { billed: 150.1, without: 400, saving: 250 },
  money: { requests: 2, currency: 'EUR', billed: 1.2346, without: 3, saving: 1.7655 },
}

const ABOUT = { vendor: 'anthropic', model: 'm', first_at: 1, last_at: 2 } as const

function conversation(id: string, more: Partial<Conversation> = {}): Conversation {
  return { ...ABOUT, id, cached: 7, account: ACCOUNT, ...more }
}

const BILL = {
  ...emptyBill(5),
  vendors: { anthropic: ACCOUNT, openai: { ...NO_ACCOUNT, results: ACCOUNT.results } },
  conversations: [
    conversation('c1', { session: 's', key: 'k', change: { place: 'system', kind: 'date' } }),
    conversation('sent', { session: 's', account: { ...NO_ACCOUNT, results: ACCOUNT.results } }),
    conversation('c2', { session: 's' }),
    conversation('c3'),
  ],
}

/** The answer, which has what its contract names and nothing else. */
const answerOf = (...[bill, query, list, budgets]: Parameters<typeof savingsAnswer>) =>
  contract.parse(savingsAnswer(bill, query, list, budgets))

describe('the answer on savings', () => {
  it('has each figure under its name, rounded, and only of what was answered', () => {
    const { prices: _, baseline, ...answer } = answerOf(BILL, { limit: 9 }, LIST)
    expect(answer).toEqual({
      scope: 'proxies',
      since: 5,
      vendors: { anthropic: ANSWER },
      conversations: [
        {
          ...{ conversation: 'c1', session: 's', ...ABOUT, ...ANSWER },
          changed: { place: 'system', kind: 'date' },
        },
        { conversation: 'c2', session: 's', ...ABOUT, ...ANSWER },
        { conversation: 'c3', ...ABOUT, ...ANSWER },
      ],
      other_lives: [],
    })
    expect(baseline).toContain('as the client sent them')
  })

  it.each([
    ['all', {}, ['c1', 'c2', 'c3'], undefined],
    ['one conversation', { conversation: 'c2' }, ['c2'], undefined],
    ['a session', { session: 's' }, ['c1', 'c2'], 8],
    ['the last of a session, of which all is summed', { session: 's', limit: 1 }, ['c1'], 8],
    ['a session that is not known', { session: 'none' }, [], 0],
  ])('has the conversations that are asked for: %s', (_, asked, ids, requests) => {
    const query: SavingsQuery = { limit: 9, ...asked }
    const { conversations, session } = answerOf(BILL, query, LIST)
    expect(conversations.map(each => each.conversation)).toEqual(ids)
    expect([session?.session, session?.requests]).toEqual([query.session, requests])
  })

  it.each(['pings', 'premium', 'avoided'])('has lives if anything is known of %s', name => {
    const account = { ...NO_ACCOUNT, requests: 1, life: { ...NO_LIFE, [name]: 2 } }
    const { vendors } = answerOf({ ...BILL, vendors: { openai: account } }, { limit: 0 }, LIST)
    expect(vendors.openai?.life).toMatchObject({ [name]: 2 })
  })

  it('has budgets with what was spent of them', () => {
    const budget: Budget = { tenant: 'a', period: 'day', amount: 10, webhook: 'https://x.example' }
    const state = { ...budget, of: '2026-11-29', spent: 1.23456 }
    const told = { period: 'day', of: '2026-11-29', amount: 10, spent: 1.2346 }
    expect(answerOf(BILL, { limit: 0 }, LIST, [state]).budgets).toEqual([told])
    expect(answerOf(BILL, { limit: 0 }, LIST, [])).not.toHaveProperty('budgets')
  })

  it('is of sums that add up', () => {
    const double = (_: string, value: unknown) => (typeof value === 'number' ? 2 * value : value)
    expect(addAccounts(ACCOUNT, ACCOUNT)).toEqual(JSON.parse(JSON.stringify(ACCOUNT), double))
    expect(addAccounts(NO_ACCOUNT, ACCOUNT)).toEqual(ACCOUNT)
    expect(addAccounts(ACCOUNT, NO_ACCOUNT)).toEqual(ACCOUNT)
    const one = { count: 1, tokens: 2, cost: 3 }
    expect(sumOfMisses({ idle: one, tools: one })).toEqual({ count: 2, tokens: 4, cost: 6 })
  })

  it('has the prices of each vendor, and of each configured prefix', () => {
    const prices = [
      { vendor: 'anthropic', cache_read: 0.5 },
      { vendor: 'openai', model: 'gpt-x', per_million: 3 },
    ] as const
    const { prices: shown } = answerOf(BILL, { limit: 0 }, { ...LIST, prices })
    expect(Object.keys(shown)).toEqual([...VENDOR_NAMES, 'openai/gpt-x'])
    expect(shown['anthropic']).toMatchObject({ uncached: 1, cache_read: 0.5, cache_write: 1.25 })
    expect(shown['openai/gpt-x']).toEqual({ ...shown['openai'], per_million: 3 })
  })
})
