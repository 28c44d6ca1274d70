import { describe, expect, it, onTestFinished } from 'vitest'
import { NO_ACCOUNT } from '../../../../src/book/bill/account.ts'
import type { AnsweredRequest } from '../../../../src/book/bill/answered-request.ts'
import { type RequestRow, turnOf } from '../../../../src/book/bill/request-row.ts'
import { createSavings, type SavingsOptions } from '../../../../src/book/bill/savings.ts'
import { savingsAnswer } from '../../../../src/book/bill/savings-answer.ts'
import { seenPrompt } from '../../../../src/book/bill/seen-prompt.ts'
import {
  addBills,
  type Conversation,
  emptyBill,
  type TenantBill,
} from '../../../../src/book/bill/tenant-bill.ts'
import { savingsLines } from '../../../../src/cli/savings/command.ts'
import { builtInPrices } from '../../../../src/config/prices.ts'
import type { RewriteReport } from '../../../../src/core/contract/operation-result.ts'
import { NO_USAGE, type TokenUsage } from '../../../../src/core/conversation/usage/token-usage.ts'
import { fail } from '../../../../src/store/values/failure.ts'
import { recordStore } from './records.ts'

const PRICES = {
  currency: 'EUR',
  prices: [{ vendor: 'anthropic', model: 'claude-haiku', per_million: 2 }],
} as const

const USAGE = { ...NO_USAGE, uncached: 100, cache_read: 900, output: 10 }
const LIST = { currency: 'EUR', builtIn: builtInPrices(), prices: PRICES.prices }

function accountsOn(store: SavingsOptions['store'], onRow: (row: RequestRow) => void = () => {}) {
  const clock = { now: 1_000 }
  const unsaved: string[] = []
  const bugs: unknown[] = []
  const savings = createSavings({
    store,
    prices: () => LIST,
    now: () => clock.now,
    onRow,
    onUnsaved: detail => unsaved.push(detail),
    onBug: bug => bugs.push(bug),
    // Never by itself: a test closes.
    flushMs: 2 ** 31 - 1,
  })
  onTestFinished(() => savings.close())
  return { savings, unsaved, bugs, clock }
}

function request(
  conversation: string | undefined,
  about: { usage?: TokenUsage; model?: string } & Partial<RewriteReport> = {},
): AnsweredRequest {
  const { usage = USAGE, model = 'claude-x', ...report } = about
  const rewrite = { readable: true, texts: 1, rewritten: 1, tokens_saved: 0, ...report }
  return {
    vendor: 'anthropic',
    said: { usage, model },
    report: conversation === undefined ? undefined : { ...rewrite, conversation },
  }
}

const requestsOf = ({ vendors }: TenantBill) => vendors.anthropic?.requests ?? 0
const idsOf = ({ conversations }: TenantBill) => conversations.map(({ id }) => id)

describe('the accounts of the proxies', () => {
  it('are kept by tenant and conversation, with what was removed and saved', async () => {
    const { savings } = accountsOn(recordStore().store)
    const saved = [{ at: 0.5, tokens: 200, messages: 0 }]
    await savings.record('a', Promise.resolve(request('c1', { saved })))
    await savings.record('a', Promise.resolve(request('c1', { saved })))
    const { conversation: _, ...report } = request('c1').report!
    await savings.record('a', Promise.resolve({ ...request(undefined), report }))
    await savings.record('b', Promise.resolve(null))
    const ledger = await savings.read('a')
    expect(ledger.vendors.anthropic).toMatchObject({
      requests: 3,
      usage: { uncached: 300, cache_read: 2_700, output: 30 },
      removed: { anthropic_class: 400 },
    })
    expect(ledger.conversations).toMatchObject([{ id: 'c1', account: { requests: 2 } }])
    const { vendors } = savingsAnswer(ledger, { limit: 9 }, LIST)
    expect(vendors.anthropic?.input_tokens).toEqual({ billed: 720, without: 760, saving: 40 })
    expect(await savings.read('b')).toMatchObject({ vendors: {}, conversations: [] })
  })

  it('take nothing for saved where the answer does not say what it used', async () => {
    const { savings } = accountsOn(recordStore().store)
    const silent = {
      ...request('c1', { saved: [{ at: 1, tokens: 1_000, messages: 0 }] }),
      said: null,
    }
    await savings.record('a', Promise.resolve(silent))
    const { vendors, conversations } = await savings.read('a')
    expect(vendors.anthropic).toMatchObject({ requests: 1, without_usage: 1, removed: {} })
    expect(vendors.anthropic).toMatchObject({ billed: 0, without: 0 })
    expect(conversations).toMatchObject([{ id: 'c1', model: null }])
  })

  it('have the results of each request when it was sent, answered or not', async () => {
    const rows: RequestRow[] = []
    const { savings } = accountsOn(recordStore().store, row => rows.push(row))
    const fresh = { tokenizer: 'o200k_base', count: 2, before: 50, after: 20 }
    const answered = { ...request('c1', { fresh }), session: 's' }
    const sent = { ...answered, report: answered.report! }
    await savings.record('a', Promise.resolve(answered))
    await savings.recordResults('a', Promise.resolve(sent))
    const none = { ...sent, report: { ...sent.report, fresh: undefined } }
    await savings.recordResults('a', Promise.resolve(none))
    const { vendors, conversations } = await savings.read('a')
    const once = { requests: 1, results: { o200k_base: { count: 2, before: 50, after: 20 } } }
    expect(vendors.anthropic).toMatchObject(once)
    // What the provider has in its cache is as the last answer said.
    expect(conversations).toMatchObject([
      { id: 'c1', session: 's', account: once, model: 'claude-x', cached: 900 },
    ])
    expect(rows).toMatchObject([
      { account: { requests: 1 }, prefixChanged: false },
      { account: { requests: 0 }, prefixChanged: false },
    ])
  })

  it('are a loss where a prefix changed, by what was cached before', async () => {
    const { store } = recordStore()
    const first = accountsOn(store)
    const written = { ...NO_USAGE, cache_read: 500, cache_write: 400 }
    await first.savings.record('a', Promise.resolve(request('c1', { usage: written })))
    await first.savings.close()
    // Known by another process too.
    const { savings } = accountsOn(store)
    const missed = { ...NO_USAGE, cache_write: 1_000 }
    const about = { usage: missed, prefix_changed: true }
    await savings.record('a', Promise.resolve(request('c1', about)))
    const { vendors } = savingsAnswer(await savings.read('a'), { limit: 1 }, LIST)
    expect(vendors.anthropic?.input_tokens.saving).toBeCloseTo(900 * (0.1 - 1.25))
  })

  it('are a turn each in the ledger, and those of another service or our own no request', async () => {
    const rows: RequestRow[] = []
    const { savings } = accountsOn(recordStore().store, row => rows.push(row))
    const usage = { ...USAGE, cache_write: 4, cache_write_long: 5 }
    const saved = [{ at: 1, tokens: 50_000, messages: 0 }]
    const about = { model: 'claude-haiku-4-5', usage, saved, prefix_changed: true }
    const silent = { ...request(undefined), said: null, untouched: 'signed' } as const
    const ours = { isHidden: true } as const
    for (const each of [
      request('c1', about),
      { ...request('c2', about), isPassedOn: true },
      { ...request('c3', about), ...ours },
      { ...request('c4'), ...ours },
      silent,
      { ...silent, isPassedOn: true },
      { ...silent, ...ours },
    ]) {
      await savings.record('a', Promise.resolve(each))
    }
    const tokens = { known: true, uncached: 100, cache_read: 900, cache_write: 9, output: 10 }
    const bill = { billed: 255, without: 50_255 }
    const paid = { currency: 'EUR', billed: expect.closeTo(0.00051, 9), without: 0 }
    const money = { ...paid, without: expect.closeTo(0.10051, 9) }
    const whole = { ...tokens, ...bill, removed: 50_000, prefix_changed: true, isHidden: false }
    const hidden = { without: 0, isHidden: true, prefix_changed: false }
    const none = { model: null, conversation: null, untouched: 'signed', billed: 0, money: null }
    expect(rows.map(turnOf)).toMatchObject([
      { ...whole, at: 1_000, conversation: 'c1', model: 'claude-haiku-4-5', money },
      {
        ...{ ...whole, billed: 0, without: 50_000, prefix_changed: false, isHidden: true },
        money: { currency: 'EUR', billed: 0, without: expect.closeTo(0.1, 9) },
      },
      { ...tokens, ...hidden, billed: 255, removed: 0, money: paid, conversation: 'c3' },
      { ...hidden, billed: 240, money: null, conversation: 'c4', model: 'claude-x' },
      { ...none, known: false, isHidden: false },
      { ...none, known: true, isHidden: true },
      null,
    ])
    const { vendors } = savingsAnswer(await savings.read('a'), { limit: 9 }, LIST)
    expect(vendors.anthropic?.money).toMatchObject({ requests: 2, billed: 0.0015 })
  })

  it('have each request once, though another process reads and writes in between', async () => {
    const { store } = recordStore()
    const one = accountsOn(store)
    const two = accountsOn(store)
    for (let n = 0; n < 20; n += 1) {
      await one.savings.record('a', Promise.resolve(request(`c${n % 3}`)))
      await two.savings.record('a', Promise.resolve(request(`c${n % 2}`)))
      expect(requestsOf(await one.savings.read('a'))).toBe(n + 1)
      expect(requestsOf(await two.savings.read('a'))).toBe(n + 1)
    }
    await Promise.all([one.savings.close(), two.savings.close()])
    for (const { savings } of [one, two]) expect(requestsOf(await savings.read('a'))).toBe(40)
  })

  it('wait for a store that cannot be written, and are written once', async () => {
    const { store, faults } = recordStore()
    const { savings, unsaved } = accountsOn(store)
    faults.write = fail('full', 'no space')
    await savings.record('a', Promise.resolve(request('c1')))
    await savings.close()
    await savings.record('a', Promise.resolve(request('c1')))
    await savings.close()
    expect(unsaved).toEqual(['no space'])
    expect(requestsOf(await savings.read('a'))).toBe(2)
    faults.write = null
    await savings.close()
    await savings.close()
    expect(requestsOf(await accountsOn(store).savings.read('a'))).toBe(2)
  })

  it('are not added twice where the store does not say whether it wrote them', async () => {
    const { store, faults } = recordStore()
    const { savings } = accountsOn(store)
    faults.lostAfter = true
    await savings.record('a', Promise.resolve(request('c1')))
    await savings.close()
    expect(requestsOf(await savings.read('a'))).toBe(1)
    expect(requestsOf(await accountsOn(store).savings.read('a'))).toBe(1)
  })

  it('are not told, and not overwritten, where the record cannot be read', async () => {
    const { store, faults, records } = recordStore()
    const { savings, unsaved } = accountsOn(store)
    await savings.record('a', Promise.resolve(request('c1')))
    await savings.close()
    const [name, record] = [...records][0]!
    records.set(name, { ...record, value: Buffer.from('{"of":"another"}') })
    await savings.record('a', Promise.resolve(request('c1')))
    await savings.close()
    await expect(savings.read('a')).rejects.toMatchObject({ code: 'internal' })
    expect(unsaved).toHaveLength(1)
    expect(records.get(name)?.value).toEqual(Buffer.from('{"of":"another"}'))
    faults.read = fail('busy', 'later')
    await expect(savings.read('a')).rejects.toMatchObject({ code: 'overloaded' })
    records.set(name, record)
    faults.read = null
    expect(requestsOf(await savings.read('a'))).toBe(2)
  })

  it('go on after a bug, which is told', async () => {
    let isFirst = true
    const { savings, bugs } = accountsOn(recordStore().store, () => {
      if (isFirst) {
        isFirst = false
        throw new Error('of a counter')
      }
    })
    await savings.record('a', Promise.resolve(request('c1')))
    await savings.record('a', Promise.reject(new Error('of an answer')))
    await savings.record('a', Promise.resolve(request('c1')))
    expect(bugs).toHaveLength(2)
    expect(requestsOf(await savings.read('a'))).toBe(2)
  })

  it('begin anew where the store has lost the record for good', async () => {
    const { store, faults } = recordStore()
    const { savings } = accountsOn(store)
    faults.read = fail('gone', 'cannot be read any more')
    await savings.record('a', Promise.resolve(request('c1')))
    await savings.close()
    faults.read = null
    expect(requestsOf(await savings.read('a'))).toBe(1)
  })

  it.each([[[0, 1, 2]], [[1, 0, 2]], [[2, 1, 0]]])(
    'have of a conversation what was said last: %j',
    order => {
      const answered = { ...NO_ACCOUNT, requests: 1 }
      const results = { o: { count: 1, before: 2, after: 1 } }
      const of = (at: number, more: Partial<Conversation>) => {
        const known = {
          vendor: 'anthropic',
          id: 'c',
          model: null,
          first_at: at,
          last_at: at,
        } as const
        return {
          ...emptyBill(at),
          conversations: [{ ...known, cached: 0, account: answered, ...more }],
        }
      }
      const seen = (at: number) => seenPrompt(print(at, 1), { cached: 9, begunMs: 0, guard: GUARD })
      const [change, later] = ['tools', 'system'].map(place => ({ place, kind: 'date' }))
      const parts = [
        of(1, { model: 'old', cached: 5, key: 'k', change: change!, seen: seen(7) }),
        of(2, { model: 'new', cached: 6, kind: 7, change: later!, seen: seen(6) }),
        of(3, { account: { ...NO_ACCOUNT, results } }),
      ]
      const { since, conversations } = order.map(at => parts[at]!).reduce(addBills)
      const whole = { model: 'new', first_at: 1, last_at: 3, cached: 6, key: 'k', kind: 7 }
      const account = { ...answered, requests: 2, results }
      const all = { vendor: 'anthropic', id: 'c', ...whole, change: later, seen: seen(7), account }
      expect([since, conversations]).toEqual([1, [all]])
    },
  )

  it('tell the last conversations apart, and lose none of the totals', async () => {
    const { store, records } = recordStore()
    const { savings, clock } = accountsOn(store)
    for (let n = 0; n < 230; n += 1) {
      clock.now = 1_000 + n
      await savings.record('a', Promise.resolve(request(`c${n}`)))
      if (n % 50 === 0) await savings.close()
    }
    await savings.record('a', Promise.resolve(request('c100')))
    await savings.close()
    const ledger = await savings.read('a')
    expect(requestsOf(ledger)).toBe(231)
    expect(ledger.since).toBe(1_000)
    expect(idsOf(ledger)).toHaveLength(200)
    expect(idsOf(ledger)).not.toContain('c29')
    expect(ledger.conversations).toMatchObject([
      { id: 'c100', first_at: 1_100, last_at: 1_229 },
      { id: 'c229' },
      ...Array(198).fill({}),
    ])
    for (const { value } of records.values()) expect(value.length).toBeLessThan(128 * 1024)
  })
})

const PRINT = {
  ...{ life_ms: 300_000, model: 1, tools: 2, system: 3, first_message: 4, settings: 5 },
  ...{ kind: 7, next: 'n', sent: [], breakpoints: [2] },
}
const print = (at: number, turns: number, more: object = {}) => ({
  ...{ ...PRINT, at, turns },
  history: Array.from({ length: turns * 2 }, (_, i) => i + 1),
  ...more,
})

const GUARD = { isLong: false, premium: 0, spent: 0 }

describe('the tools of agents', () => {
  const definitions = { tokens: 9, used: 1, called: ['read'], deferred: 0, searches: 0 }

  it.each<[string, object, object, object, number]>([
    ['definitions', {}, {}, {}, 0],
    ['deferred ones, where the first place is', { deferred: 50 }, { spared: 5 }, {}, 0],
    ['what was added for them', { deferred: -50 }, { spared: -5 }, {}, 0],
    ['after the cache', { deferred: 50 }, { spared: 50 }, { saved: [{ at: 0.95, tokens: 0 }] }, 0],
    ['searches, which read the prompt', { searches: 2 }, { searched: 200 }, {}, -200],
  ])('cost what they add, and spare what they leave out: %s', async (_, of, sums, more, saving) => {
    const { savings } = accountsOn(recordStore().store)
    const about = { definitions: { ...definitions, ...of }, ...more }
    await savings.record('a', Promise.resolve(request('c1', about)))
    const { anthropic } = (await savings.read('a')).vendors
    const { called: _called, ...counts } = definitions
    const account = { requests: 1, ...counts, ...of, spared: 0, searched: 0, ...sums }
    expect(anthropic?.definitions).toEqual(account)
    expect(anthropic!.without - anthropic!.billed).toBeCloseTo(saving, 9)
  })

  it('are known by what was called, dropped and refused, in another process too', async () => {
    const { store } = recordStore()
    const { savings, clock } = accountsOn(store)
    const tools = async () => {
      savings.agentTools('a')
      await savings.read('a')
      return savings.agentTools('a')
    }
    expect(savings.agentTools('a')).toBeUndefined()
    expect(await tools()).toEqual([])
    savings.noteRefusedTools('a', 7)
    expect(await tools()).toEqual([{ kind: 7, recent: null, isRefused: true }])
    const send = (id: string, about: object) =>
      savings.record('a', Promise.resolve(request(id, about)))
    await send('1', { definitions: { ...definitions, isDropped: true }, print: print(1_000, 1) })
    for (const id of ['2', '3', '4', '5']) await send(id, { definitions, print: print(1_000, 1) })
    await send('5', { print: print(1_000, 2) })
    await send('6', { definitions: { ...definitions, called: ['no kind is known'] } })
    clock.now += 60_001
    const known = { kind: 7, recent: ['read'], dropsSearches: true, isRefused: true }
    expect(await tools()).toEqual([known])
    await savings.close()
    const other = accountsOn(store).savings
    other.agentTools('a')
    await other.read('a')
    expect(other.agentTools('a')).toEqual([known])
  })
})

describe('misses in the answer', () => {
  const written = { ...NO_USAGE, cache_write: 20_000 }

  it('have reason, cost and what was changed, the dearest first, and no print', async () => {
    const { savings } = accountsOn(recordStore().store)
    const head_change = { place: 'system', kind: 'date', at: 9, scope: 'conversation' }
    const send = (about: object) => savings.record('a', Promise.resolve(request('c1', about)))
    await send({ usage: written, print: print(1_000, 1) })
    await send({ usage: written, print: print(2_000, 2, { system: 9 }), head_change })
    await send({ usage: written, print: print(900_000, 3, { system: 9 }) })
    await send({ usage: written, print: print(1_900_000, 4, { system: 9 }) })
    const answer = savingsAnswer(await savings.read('a'), { limit: 9 }, LIST)
    const misses = [
      { reason: 'idle', count: 2, tokens: 40_000, cost: 46_000 },
      { reason: 'system', count: 1, tokens: 20_000, cost: 23_000 },
    ]
    expect(answer.vendors.anthropic?.misses).toEqual(misses)
    expect(answer.conversations[0]).toMatchObject({
      misses,
      changed: { place: 'system', kind: 'date' },
    })
    expect(JSON.stringify(answer)).not.toContain('seen')
    expect(savingsLines(answer)).toContain(
      'missed:   idle: 2 requests, 40,000 cached tokens not read, 46,000 more billed',
    )
  })

  it('know by the prompt before which places were cached', async () => {
    const { savings } = accountsOn(recordStore().store)
    const send = (about: object) => savings.record('a', Promise.resolve(request('c1', about)))
    await send({ usage: written, print: print(1_000, 1) })
    const usage = { ...NO_USAGE, cache_read: 20_000, cache_write: 1_000 }
    // By its share alone the first of them would be new.
    const places = [2, 3].map(messages => ({ at: 0.97, tokens: 1_000, messages }))
    await send({ usage, print: print(2_000, 2), saved: places })
    const { vendors } = savingsAnswer(await savings.read('a'), { limit: 9 }, LIST)
    expect(vendors.anthropic?.input_tokens.saving).toBeCloseTo(1_000 * (0.1 + 1.25), 6)
  })

  it('are known by branch of a conversation, and by turns that another process saw', async () => {
    const { store } = recordStore()
    const [one, two] = [accountsOn(store), accountsOn(store)]
    const send = ({ savings }: typeof one, about: object) =>
      savings.record('a', Promise.resolve(request('c1', { usage: written, ...about })))
    const cached = { ...NO_USAGE, cache_read: 20_000 }
    await send(one, { print: print(1_000, 1) })
    await send(one, { usage: cached, print: print(2_000, 2) })
    await send(one, { usage: cached, print: print(3_000, 2, { history: [1, 2, 8, 9] }) })
    await send(one, { print: print(4_000, 3) })
    const miss = { count: 1, tokens: 20_000 }
    expect((await one.savings.read('a')).vendors.anthropic?.misses).toMatchObject({
      provider: miss,
    })
    await one.savings.close()
    await send(two, { usage: cached, print: print(6_000, 4) })
    // An answer that took longer than that to a later prompt.
    await send(two, { usage: cached, print: print(5_000, 4) })
    const [last] = (await two.savings.read('a')).conversations
    expect(last?.seen?.at).toBe(6_000)
    await two.savings.close()
    one.clock.now += 5_000
    await send(one, { print: print(7_000, 5) })
    const both = { provider: { count: 2, tokens: 40_000 } }
    expect((await one.savings.read('a')).vendors.anthropic?.misses).toMatchObject(both)
  })

  it('are none where nothing is known to be cached, or two requests came at once', async () => {
    const { savings } = accountsOn(recordStore().store)
    const send = (of: string, about: object, more: object = {}) =>
      savings.record('a', Promise.resolve({ ...request(of, about), ...more }))
    const uncached = { ...NO_USAGE, uncached: 20_000 }
    // Its model never reported a cached token.
    await send('c1', { usage: uncached, print: print(1_000, 1) }, { vendor: 'openai' })
    await send('c1', { usage: uncached, print: print(2_000, 2) }, { vendor: 'openai' })
    // The first answer had not begun.
    const other = { next: 'o' }
    await send('c2', { usage: written, print: print(1_000, 1, other) }, { begunMs: 5_000 })
    await send('c2', { usage: written, print: print(2_000, 2, other) })
    // A turn between them was not seen.
    const third = { next: 'p' }
    await send('c3', { usage: written, print: print(1_000, 1, third) })
    await send('c3', { usage: written, print: print(2_000, 3, third) })
    const { vendors } = await savings.read('a')
    expect(vendors.openai?.misses).toEqual({})
    expect(vendors.anthropic?.misses).toEqual({})
  })
})
