import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NO_USAGE, type TokenUsage } from '../../../../src/core/conversation/usage/token-usage.ts'
import {
  CachePings,
  type PingAnswer,
  type PingedRequest,
} from '../../../../src/http/proxy/cache-pings.ts'
import { runs } from '../../../support/runs.ts'

const BODY = '{"max_tokens":4096,"stream":true,"messages":[]}'
const PLACES = { most: 2, budget: 0.5, maxTokens: { start: 14, end: 18 } }
const STREAM = { stream: { start: 28, end: 32 } }
const PRICES = { cache_read: 0.1, cache_write: 1.25, cache_write_long: 2, output: 5 }
const READ = { ...NO_USAGE, cache_read: 50_000 }
const OK: PingAnswer = { status: 200, usage: READ }

/** Pings with a clock and timers that a test moves. */
function world() {
  const start = 1_800_000_000_000
  const clock = { now: start }
  const state = { isEnding: false, isLast: true, answer: OK as PingAnswer | null }
  const timers = new Map<object, { readonly at: number; run(): void }>()
  const sent: { readonly name: string; readonly at: number; readonly body: string }[] = []
  const pings = new CachePings({
    now: () => clock.now,
    isEnding: () => state.isEnding,
    after(ms, run) {
      const timer = {}
      timers.set(timer, { at: clock.now + ms, run })
      return () => timers.delete(timer)
    },
  })

  function plan(name: string, about: Partial<PingedRequest> = {}) {
    pings.plan({
      ...{ tenant: 't', key: 'k', conversation: name, body: Buffer.from(BODY) },
      ...{ places: { ...PLACES, ...STREAM }, usage: { ...NO_USAGE, cache_write: 50_000 } },
      ...{ prices: PRICES, sentAt: clock.now, isLast: async () => state.isLast },
      async send(body) {
        sent.push({ name, at: clock.now - start, body: Buffer.from(body).toString() })
        return state.answer
      },
      ...about,
    })
  }

  /** Lets time pass, with all that happens meanwhile. */
  async function pass(seconds: number) {
    const end = clock.now + 1_000 * seconds
    for (;;) {
      const next = [...timers]
        .filter(([, { at }]) => at <= end)
        .sort((a, b) => a[1].at - b[1].at)[0]
      if (next === undefined) break
      timers.delete(next[0])
      clock.now = Math.max(clock.now, next[1].at)
      next[1].run()
      for (let n = 0; n < 5; n++) await null
    }
    clock.now = end
  }
  return { clock, state, sent, pings, plan, pass, timers }
}

/** A tenant that has spent enough for its daily share. */
function richWorld() {
  const all = world()
  const usage = { ...NO_USAGE, uncached: 10_000_000 }
  all.plan('rich', { usage, places: { ...PLACES, most: 0, budget: 0 } })
  all.pings.goOn('t', 'rich')
  return all
}

describe('pings', () => {
  it('are the same request for no token, 280 s after the last one began, twice at most', async () => {
    const { plan, pass, sent, pings, timers } = richWorld()
    plan('a')
    await pass(279)
    expect(sent).toEqual([])
    await pass(3_600)
    const body = '{"max_tokens":0,"stream":false,"messages":[]}'
    expect(sent).toEqual([
      { name: 'a', at: 280_000, body },
      { name: 'a', at: 560_000, body },
    ])
    expect(timers.size).toBe(0)
    expect(pings.goOn('t', 'a')).toBe(2)
    expect(pings.goOn('t', 'a')).toBe(0)
  })

  it('end when the conversation goes on, here or in another process, or the service ends', async () => {
    const { plan, pass, sent, pings, state } = richWorld()
    plan('a')
    await pass(300)
    expect(pings.goOn('t', 'a')).toBe(1)
    await pass(3_600)
    plan('b')
    state.isLast = false
    await pass(3_600)
    state.isLast = true
    plan('c')
    state.isEnding = true
    await pass(3_600)
    plan('d')
    state.isEnding = false
    await pass(3_600)
    expect(sent.map(({ name }) => name)).toEqual(['a'])
  })

  it('are one row for a conversation that is answered in two places at once', async () => {
    const { plan, pass, sent, clock, timers } = richWorld()
    plan('a')
    clock.now += 1_000
    plan('a')
    expect(timers.size).toBe(1)
    await pass(3_600)
    expect(sent.map(({ at }) => at)).toEqual([281_000, 561_000])
  })

  it.each([
    ['short', { usage: { ...NO_USAGE, cache_write: 39_000 } }],
    ['beyond its budget', { places: { ...PLACES, budget: 0.05 } }],
  ])('are none for a conversation that is %s', async (_, about) => {
    const { plan, pass, sent } = richWorld()
    plan('a', about)
    await pass(3_600)
    expect(sent).toEqual([])
  })

  it.each([
    ['that was longer than the life', 310, 'cache_read', 2],
    ['that was not', 290, 'cache_read', 1],
    ['of which nothing was read', 310, 'uncached', 1],
  ] as const)('may cost what they spared in a pause %s', async (_, seconds, kind, count) => {
    const { plan, pass, sent, pings } = richWorld()
    // One ping is all that the first request pays for.
    const places = { ...PLACES, most: 1, budget: 0.08 }
    plan('a', { places })
    await pass(seconds)
    pings.goOn('t', 'a')
    plan('a', { places, usage: { ...NO_USAGE, [kind]: 50_000 } })
    await pass(300)
    expect(sent).toHaveLength(count)
  })

  it('cost a tenant 3 % of a day’s input at most', async () => {
    const { plan, pass, sent } = world()
    plan('a')
    await pass(3_600)
    expect(sent).toEqual([])
  })

  it('are no share of what a tenant spent on the day before', async () => {
    const { plan, pass, sent } = richWorld()
    await pass(86_400)
    plan('a')
    await pass(3_600)
    expect(sent).toEqual([])
  })

  it('are none if the clock jumps, or the machine slept', async () => {
    for (const jump of [-3_600_000, 60_000, 86_400_000]) {
      const { plan, pass, sent, clock, timers } = richWorld()
      plan('a')
      await pass(200)
      clock.now += jump
      const [timer] = timers.values()
      timer!.run()
      await pass(1_000)
      expect(sent).toEqual([])
    }
  })

  it.each([
    ['no answer', null],
    ['an error', { status: 529, usage: null }],
    [
      'a cold cache',
      { status: 200, usage: { ...NO_USAGE, cache_write: 6_000, cache_read: 44_000 } },
    ],
  ])('end with %s, and after three of them those of the key for the day', async (_, answer) => {
    const { plan, pass, sent, state } = richWorld()
    state.answer = answer
    for (const name of ['a', 'b', 'c', 'd']) plan(name)
    await pass(3_600)
    state.answer = OK
    plan('e')
    await pass(3_600)
    expect(sent.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    plan('f', { key: 'other' })
    await pass(300)
    expect(sent.at(-1)?.name).toBe('f')
    await pass(86_400)
    plan('rich', { usage: { ...NO_USAGE, uncached: 10_000_000 }, places: { ...PLACES, budget: 0 } })
    plan('g')
    await pass(300)
    expect(sent.at(-1)?.name).toBe('g')
  })

  it('end for an hour for a key that is told to slow down', async () => {
    const { plan, pass, sent, state } = richWorld()
    state.answer = { status: 429, usage: null }
    plan('a')
    await pass(300)
    state.answer = OK
    plan('b')
    await pass(300)
    await pass(3_600)
    plan('c')
    await pass(300)
    expect(sent.map(({ name }) => name)).toEqual(['a', 'c'])
  })

  it('hold 64 MiB of bodies at most if a thousand conversations pause at once', async () => {
    const { plan, pass, timers } = richWorld()
    const body = Buffer.alloc(1024 * 1024)
    const send = async () => OK
    for (let n = 0; n < 1_000; n++) plan(`c${n}`, { body, send })
    expect(timers.size).toBe(64)
    await pass(3_600)
    for (let n = 0; n < 100; n++) plan(`d${n}`, { body, send })
    expect(timers.size).toBe(64)
  })

  it('never cost more than the budget, and never go on without an answer that kept the cache', async () => {
    const step = fc.record({
      seconds: fc.integer({ min: 1, max: 1_200 }),
      prompt: fc.integer({ min: 0, max: 200_000 }),
      isKept: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async steps => {
        const { plan, pass, sent, state, pings } = richWorld()
        let [spent, pinged] = [0, 0]
        for (const { seconds, prompt, isKept } of steps) {
          // Nothing is read, so pings spare nothing.
          const usage: TokenUsage = { ...NO_USAGE, cache_write: prompt }
          state.answer = isKept ? { status: 200, usage: { ...NO_USAGE, cache_read: prompt } } : null
          pings.goOn('t', 'a')
          plan('a', { usage, places: { ...PLACES, budget: 0.1 } })
          spent += 1.25 * prompt
          const before = sent.length
          await pass(seconds)
          const now = sent.length - before
          pinged += isKept ? now * 0.1 * prompt : 0
          expect(now).toBeLessThanOrEqual(isKept ? Math.floor(seconds / 280) : 1)
          expect(pinged).toBeLessThanOrEqual(0.1 * spent + 1e-6)
        }
      }),
      { numRuns: runs(200) },
    )
  })
})
