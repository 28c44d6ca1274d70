import { describe, expect, it } from 'vitest'
import { NO_ACCOUNT } from '../../../../src/book/bill/account.ts'
import { guardedBy, lifeOf, NO_LIFE } from '../../../../src/book/bill/life-account.ts'
import { createLifeAdvisor, otherLives } from '../../../../src/book/bill/life-advice.ts'
import { createSavings } from '../../../../src/book/bill/savings.ts'
import { savingsAnswer } from '../../../../src/book/bill/savings-answer.ts'
import { missReason, type SeenPrompt, seenPrompt } from '../../../../src/book/bill/seen-prompt.ts'
import { type Conversation, emptyBill } from '../../../../src/book/bill/tenant-bill.ts'
import { turnMarks } from '../../../../src/book/bill/turn-marks.ts'
import { savingsLines } from '../../../../src/cli/savings/command.ts'
import { builtInPrices } from '../../../../src/config/prices.ts'
import { MISS_REASONS } from '../../../../src/core/contract/savings.ts'
import { costOf } from '../../../../src/core/conversation/usage/billing.ts'
import { NO_USAGE, type TokenUsage } from '../../../../src/core/conversation/usage/token-usage.ts'
import { recordStore } from './records.ts'

const LIST = { currency: 'USD', builtIn: builtInPrices(), prices: [] }
const PROMPT = 10_000

function accounts() {
  const clock = { now: 1_800_000_000_000 }
  const losses: string[] = []
  const savings = createSavings({
    store: recordStore().store,
    prices: () => LIST,
    now: () => clock.now,
    onRow: () => {},
    onUnsaved: () => {},
    onLoss: tenant => losses.push(tenant),
    onBug: bug => {
      throw bug
    },
    flushMs: 2 ** 31 - 1,
  })

  /** A turn of a conversation, after a pause. */
  async function turn(name: string, n: number, usage: Partial<TokenUsage>, more: Turn = {}) {
    clock.now += more.pauseMs ?? 1_000
    const all = { ...NO_USAGE, ...usage }
    const digests = { model: 1, tools: 1, system: 1, first_message: 1, settings: 1 }
    const history = Array.from({ length: n }, (_, at) => at + 1)
    const print = {
      ...{ at: clock.now, life_ms: more.isOurs ? 3_600_000 : 300_000, turns: n, kind: 7 },
      ...{ ...digests, next: n === 0 ? null : `next of ${name}`, history },
    }
    const report = {
      ...{ readable: true, texts: 0, rewritten: 0, tokens_saved: 0, conversation: name, print },
      ...(more.isOurs && { levers: ['life'] }),
    }
    const said = { usage: all, model: 'claude-sonnet-4-5' }
    const { pings, isPing } = more
    const about = { vendor: 'anthropic', said, report, key: 'k', pings } as const
    const request = isPing ? { ...about, isHidden: true, isPing } : about
    await savings.record('t', Promise.resolve(request as typeof about))
  }

  /** A conversation with a pause after so many turns. */
  async function conversation(name: string, pauseAt: number, turns: number) {
    for (let n = 0; n < turns; n++) {
      const isCold = n === 0 || n === pauseAt
      const pauseMs = n === pauseAt ? 600_000 : 1_000
      await turn(name, n, { [isCold ? 'cache_write' : 'cache_read']: PROMPT }, { pauseMs })
    }
  }

  /** What is known of the key once it was asked. */
  async function advice() {
    savings.advice('t', 'k')
    await savings.read('t')
    await savings.read('t')
    return savings.advice('t', 'k')
  }

  const answer = async () => savingsAnswer(await savings.read('t'), { limit: 9 }, LIST)
  return { clock, losses, turn, conversation, advice, answer, savings }
}

interface Turn {
  readonly pauseMs?: number
  readonly isOurs?: boolean
  readonly pings?: number
  readonly isPing?: true
}

describe('a miss', () => {
  it.each([
    [10_000, 1_023, 0],
    [10_000, 1_024, 1],
    [100_000, 4_999, 0],
    [100_000, 5_000, 1],
  ])('of %i cached tokens is one if %i are not read: %i', async (cached, lost, count) => {
    const { turn, answer } = accounts()
    await turn('a', 0, { cache_write: cached })
    await turn('a', 1, { cache_read: cached - lost, cache_write: lost })
    const { misses } = (await answer()).vendors.anthropic!
    expect(misses.map(({ reason, tokens }) => [reason, tokens])).toEqual(
      count === 0 ? [] : [['provider', lost]],
    )
  })
})

const SAME = { model: 1, tools: 1, system: 1, first_message: 1, settings: 1 }
const PRINT = { ...SAME, at: 5, life_ms: 300_000, turns: 1, kind: 7, next: 'next', history: [5] }
const NO_GUARD = { isLong: false, premium: 0, spent: 0 }
const seenOf = (print: object, guard = NO_GUARD) =>
  seenPrompt({ ...PRINT, ...print }, { cached: 8_000, begunMs: 1, guard })

describe('the reason of a miss', () => {
  const before = seenOf({ breakpoints: [0] })

  it.each(MISS_REASONS.map((reason, at) => [reason, at] as const))(
    'is %s if the %i before it do not hold, and all others do',
    (reason, at) => {
      const holds = (name: (typeof MISS_REASONS)[number]) => MISS_REASONS.indexOf(name) >= at
      const digests = Object.fromEntries(
        (Object.keys(SAME) as (keyof typeof SAME)[]).map(name => [name, holds(name) ? 2 : 1]),
      ) as typeof SAME
      const now = {
        ...{ ...PRINT, ...digests, turns: 2, at: 5 + (holds('idle') ? 300_001 : 300_000) },
        history: [holds('history') ? 6 : 5],
        breakpoints: [holds('blocks') ? 21 : 20],
      }
      expect(missReason(before, now, holds('own'))).toBe(reason)
    },
  )

  const now = { ...PRINT, at: 9, turns: 2, history: [5, 7] }
  const marked = { breakpoints: [30] }
  it.each<[string, object, object, string | null]>([
    ['results that are sent as before', { sent: [4] }, { sent: [4, 3] }, 'provider'],
    ['results that are sent otherwise', { sent: [4] }, { sent: [3, 4] }, 'own'],
    ['results that are not known now', { sent: [4] }, {}, 'provider'],
    ['results that were not known', {}, { sent: [4] }, 'provider'],
    ['no results before', { sent: [] }, { sent: [4] }, 'provider'],
    ['results of another history', { sent: [4] }, { sent: [3], history: [9] }, 'history'],
    ['breakpoints that end before', marked, { breakpoints: [29] }, 'blocks'],
    ['one that is near of two', marked, { breakpoints: [29, 50] }, 'provider'],
    ['none that counted', {}, { breakpoints: [9] }, 'provider'],
    ['a turn that was not seen', {}, { turns: 3 }, null],
    ['a turn of another history', {}, { turns: 3, history: [9] }, 'history'],
    ['an answer that had begun', {}, { at: 6 }, 'provider'],
    ['an answer that had not', {}, { at: 5 }, null],
    ['no message after the opening', { history: [] }, { history: [7] }, 'provider'],
  ])('may be of ours, or not known: %s', (_, earlier, later, reason) => {
    expect(missReason(seenOf(earlier), { ...now, ...later }, false)).toBe(reason)
  })
})

describe('the mark of a request', () => {
  const TURN = {
    ...{ id: 1, at: 0, vendor: 'anthropic', model: 'claude-sonnet-4-5', known: 1, untouched: '' },
    ...{ uncached: 0, cache_read: 0, cache_write: PROMPT, output: 9, prefix_changed: 0 },
    ...{ removed: 0, billed: 0, without: 0 },
  }
  const openai = { vendor: 'openai', model: 'gpt-5', uncached: PROMPT, cache_write: 0 }

  it.each([
    ['a lost cache', {}, {}, { kind: 'miss', pause: 9, prompts: [PROMPT, PROMPT], cost: 11_500 }],
    ['a cache that is read', {}, { cache_read: PROMPT, cache_write: 0 }, null],
    ['another prefix of ours', {}, { prefix_changed: 1, cache_write: 5_000 }, { kind: 'own' }],
    ['a pause as long as its life', {}, { at: 300_000 }, { kind: 'miss', pause: 300_000 }],
    ['a longer pause', {}, { at: 300_001, model: 'claude-opus-4-5' }, { kind: 'idle' }],
    ['another model', {}, { model: 'claude-opus-4-5' }, { kind: 'model' }],
    ['less than 60 %', {}, { at: 300_001, cache_write: 5_999 }, { kind: 'compaction' }],
    ['60 %', {}, { cache_write: 6_000 }, { kind: 'miss', tokens: 6_000 }],
    ['less of a short prompt', { cache_write: 8_192 }, { cache_write: 2_000 }, { kind: 'miss' }],
    [
      'a part',
      {},
      { cache_read: 5_000, cache_write: 0 },
      { kind: 'compaction', tokens: 0, cost: 0 },
    ],
    ['what was not cached', { uncached: 4_000, cache_write: 6_000 }, {}, { tokens: 6_000 }],
    ['a vendor that says no writes', openai, openai, { kind: 'miss', tokens: PROMPT, cost: 9_000 }],
    ['no usage before', { known: 0 }, {}, null],
    ['no usage', {}, { known: 0 }, null],
    ['a vendor without prices', {}, { vendor: 'other' }, null],
  ])('is right for %s', (_, before, now, mark) => {
    const turns = [
      { ...TURN, ...before },
      { ...TURN, at: 9, ...now },
    ]
    const expected = mark === null ? [] : [{ at: 1, ...mark }]
    expect(turnMarks(turns, LIST)).toMatchObject(expected)
  })
})

describe('the life of one request', () => {
  const PRICES = { cache_read: 0.1, cache_write: 1.25, cache_write_long: 2, output: 5 }
  const [LATE, HOUR] = [600_000, 3_600_000]
  const MISSED = { cache_write: 9_000, uncached: 1_000 }
  const [WRITTEN, KEPT] = [{ written: 9_000 }, { bridged: 8_000, written: 1_000 }]
  interface Terms {
    readonly before?: Partial<SeenPrompt> | null
    readonly levers?: readonly string[]
    readonly prefix_changed?: true
    readonly pings?: number
  }

  /** A request some time after one of which 8,000 tokens were cached. */
  function terms(pause: number, usage: Partial<TokenUsage>, more: Terms = {}) {
    const { before = {}, pings = 0, ...report } = more
    return {
      usage: { ...NO_USAGE, ...usage },
      before: before && { ...seenOf({}), ...before },
      report: { print: { ...PRINT, at: PRINT.at + pause }, ...report },
      pings,
    }
  }

  const HIT = { cache_read: 7_000, cache_write_long: 2_000 }
  const BOUGHT = { ...KEPT, premium: 1_500 }
  const SPARED = 1.25 - 0.1
  const BRIDGED = 8_000 * SPARED
  const [LONG, OURS] = [{ before: { life_ms: HOUR } }, { levers: ['life'] }]
  it.each<[string, number, Partial<TokenUsage>, Terms, object]>([
    ['the first', LATE, MISSED, { before: null }, WRITTEN],
    ['a pause of five minutes', 300_000, MISSED, {}, WRITTEN],
    ['a longer one', 300_001, MISSED, {}, KEPT],
    ['a pause of an hour', HOUR, MISSED, {}, KEPT],
    ['a longer one than that', HOUR + 1, MISSED, {}, WRITTEN],
    ['another prefix', LATE, MISSED, { prefix_changed: true }, WRITTEN],
    ['a short prompt', LATE, { cache_write: 600 }, {}, { bridged: 600 }],
    ['a prompt that is hardly cached', LATE, { uncached: 9_500 }, {}, { bridged: 8_000 }],
    ['writes of both lives', 1, { cache_write: 3, cache_write_long: 4 }, {}, { written: 7 }],
    ['an hour of the client', LATE, HIT, { ...LONG, levers: ['place'] }, KEPT],
    ['the first hour of ours', LATE, HIT, OURS, BOUGHT],
    ['an hour of ours', LATE, HIT, { ...LONG, ...OURS }, { ...BOUGHT, avoided: 7_000 * SPARED }],
    ['pings', LATE, { cache_read: 9_000 }, { pings: 1 }, { ...KEPT, avoided: BRIDGED }],
    ['pings in no pause', 9, { cache_read: 9_000 }, { pings: 1 }, {}],
  ])('has what an hour bridges, costs and avoids: %s', (_, pause, usage, more, life) => {
    const { guarded: _guarded, ...found } = lifeOf(terms(pause, usage, more), PRICES)
    expect({ guarded: 0, ...found }).toEqual({ ...NO_LIFE, ...life })
  })

  const [LEFT, TAKEN] = [false, true].map(isLong => ({ ...NO_GUARD, isLong, spent: 30_000 }))
  const MOST = { ...TAKEN!, premium: 751 }
  const IN_HOUR = { cache_read: 8_000, cache_write: 500, cache_write_long: 1_500 }
  it.each([
    ['without a budget', LATE, MISSED, undefined, 0, NO_GUARD],
    ['after a short pause', 9, MISSED, LEFT, 0, NO_GUARD],
    ['after its first pause', LATE, { cache_write: 2_000 }, LEFT, -1_500, { premium: 1_500 }],
    ['in the hour', 9, IN_HOUR, TAKEN, -1_500, { premium: 1_500 }],
    ['after a pause in the hour', LATE, MISSED, TAKEN, BRIDGED - 750, { premium: 750 }],
    ['beyond its budget', LATE, MISSED, MOST, BRIDGED, { isLong: false, premium: 751 }],
    ['of what is hardly cached', LATE, { uncached: 9_500 }, TAKEN, BRIDGED, { premium: 0 }],
  ])('has what a guarded hour would have saved: %s', (_, pause, usage, guard, saved, after) => {
    const of = terms(pause, { ...usage, output: 9 }, { before: { guard } })
    const found = guardedBy(of, PRICES)
    expect(found.saved).toBeCloseTo(saved, 6)
    const cost = costOf({ ...of.usage, output: 0 }, PRICES)
    const spent = expect.closeTo((guard?.spent ?? 0) + cost - saved, 6)
    expect(found.guard).toEqual({ isLong: true, ...after, spent })
  })
})

describe('the last conversations of an agent', () => {
  const life = { ...NO_LIFE, bridged: 30, written: 10, guarded: 2 }
  const usage = { ...NO_USAGE, output: 2 }
  const ACCOUNT = { ...NO_ACCOUNT, requests: 20, billed: 100, usage, life }
  const LONG = { ...ACCOUNT, usage: { ...usage, cache_write_long: 1 } }
  const [SILENT, SHORT] = [
    { ...ACCOUNT, requests: 0 },
    { ...ACCOUNT, requests: 19 },
  ] as const
  const LOSS = { ...ACCOUNT, life: { ...NO_LIFE, premium: 1e6 } }
  const EVEN = { ...ACCOUNT, life: { ...NO_LIFE, written: 10 } }
  const several = (count: number, more: Partial<Conversation>): Conversation[] =>
    Array.from({ length: count }, () => ({
      ...{ vendor: 'anthropic', id: 'c', model: 'claude-sonnet-4-5', kind: 7, cached: 0 },
      ...{ first_at: 1, last_at: 1, account: ACCOUNT, ...more },
    }))
  const conversations = [
    ...[...several(5, { key: 'k' }), ...several(5, {}), ...several(21, { kind: 8 })],
    ...[...several(4, { kind: 9 }), ...several(5, { kind: 10, vendor: 'openai' })],
    ...[...several(4, { kind: 11 }), ...several(1, { kind: 11, account: LONG })],
    ...[...several(5, { kind: 12, account: SILENT }), ...several(5, { kind: undefined })],
    ...[...several(5, { kind: 13, account: SHORT }), ...several(5, { kind: 14, account: EVEN })],
    // Of a key, the last twenty say whether its lives are a loss.
    ...several(1, { kind: 15, account: LOSS }),
  ]

  it('say what other lives would have saved, by key and kind, if they had five minutes', () => {
    const five = { conversations: 5, input: 450, hour: 135, guarded: 10 }
    const twenty = { conversations: 20, input: 1_800, hour: 540, guarded: 40 }
    const costs = { ...five, hour: -37.5, guarded: 0 }
    expect(otherLives({ conversations }, LIST)).toEqual([five, five, twenty, five, costs])
  })

  it('advise their key, from when they are read until a minute later', async () => {
    const clock = { now: 5, reads: 0 }
    const advise = createLifeAdvisor({
      prices: () => LIST,
      now: () => clock.now,
      onLoss: tenant => expect(tenant).toBeUndefined(),
      read: async () => (clock.reads++ === 0 ? null : { ...emptyBill(0), conversations }),
    })
    for (const [pause, key, hourKinds, reads] of [
      [0, '', undefined, 1],
      [60_000, '', undefined, 1],
      [1, '', undefined, 2],
      [0, '', [7, 8, 11], 2],
      [0, 'k', [7], 2],
      [-60_001, 'other', [], 3],
    ] as const) {
      clock.now += pause
      const advice = hourKinds && { hourKinds, isLoss: false }
      expect([advise('t', key), clock.reads]).toEqual([advice, reads])
      await new Promise(setImmediate)
    }
  })
})

describe('the account of lives', () => {
  it('has nothing of clients that buy their own, and says what an hour would have cost', async () => {
    const { conversation, answer } = accounts()
    for (const name of ['a', 'b', 'c', 'd']) await conversation(name, 10, 25)
    expect((await answer()).other_lives).toEqual([])
    await conversation('e', 10, 25)
    const all = await answer()
    // In each the second write, less the premium of the first.
    const hour = 5 * (1.15 * PROMPT - 0.75 * PROMPT)
    expect(all.other_lives).toEqual([{ conversations: 5, input: 5 * 48_000, hour, guarded: 0 }])
    expect(all.vendors.anthropic?.life).toBeUndefined()
    expect(savingsLines(all).at(-1)).toBe(
      'instead:  an hour −8.3 %, auto −0.0 % of the input of the last 5 conversations: ' +
        'cache_life.life = "1h", or haversack setup claude --cache-1h',
    )
  })

  it('has the premium as a loss, and the miss that there was none of as a gain', async () => {
    const { turn, answer } = accounts()
    await turn('a', 0, { cache_write_long: PROMPT }, { isOurs: true })
    const first = await answer()
    expect(first.vendors.anthropic).toMatchObject({
      life: { pings: 0, premium: 7_500, pinged: 0, avoided: 0, saving: -7_500 },
      input_tokens: { billed: 20_000, without: 12_500, saving: -7_500 },
    })
    expect(savingsLines(first).at(-1)).toBe(
      'lives:    −7,500: 7,500 for an hour, 0 for 0 pings, 0 of misses avoided',
    )
    await turn('a', 1, { cache_read: PROMPT }, { isOurs: true, pauseMs: 1_200_000 })
    expect((await answer()).vendors.anthropic).toMatchObject({
      life: { premium: 7_500, avoided: 11_500, saving: 4_000 },
      input_tokens: { billed: 21_000, without: 25_000, saving: 4_000 },
    })
  })

  it('has pings as a cost without requests, and what they kept as a gain', async () => {
    const { turn, answer } = accounts()
    await turn('a', 0, { cache_write: PROMPT })
    await turn('a', 0, { cache_read: PROMPT }, { isPing: true })
    await turn('a', 1, { cache_read: PROMPT }, { pauseMs: 400_000, pings: 1 })
    expect((await answer()).vendors.anthropic).toMatchObject({
      requests: 2,
      life: { pings: 1, premium: 0, pinged: 1_000, avoided: 11_500, saving: 10_500 },
      input_tokens: { saving: 10_500 },
    })
    // A ping gives the cache its life again, so what is lost within it was not idle.
    await turn('a', 2, { cache_write: PROMPT }, { pauseMs: 500_000, pings: 1 })
    expect((await answer()).vendors.anthropic?.misses).toMatchObject([{ reason: 'provider' }])
  })

  it.each([
    [160_000, false],
    [90_000, true],
  ])('is a loss beyond 1 %% of the input: %i tokens written, %s', async (written, isLoss) => {
    const { turn, advice } = accounts()
    // The premium of 2,000 tokens is 1,500.
    await turn('a', 0, { cache_write_long: 2_000 }, { isOurs: true })
    await turn('a', 1, { cache_write: written })
    expect(await advice()).toMatchObject({ isLoss })
  })

  it('ends at a loss of 1 % of a key’s input, with one call', async () => {
    const { turn, advice, losses, clock } = accounts()
    for (let n = 0; n < 20; n++) await turn(`c${n}`, 0, { cache_write_long: 100 }, { isOurs: true })
    await turn('c0', 1, { cache_write: 500_000 })
    expect(await advice()).toMatchObject({ isLoss: false })
    for (let n = 0; n < 20; n++) await turn(`d${n}`, 0, { cache_write_long: 500 }, { isOurs: true })
    clock.now += 61_000
    for (let again = 0; again < 2; again++) {
      expect(await advice()).toMatchObject({ isLoss: true })
      clock.now += 61_000
    }
    expect(losses).toEqual(['t'])
  })
})
