import { describe, expect, it } from 'vitest'
import { type Step, turnBody } from '../../../bench/turns/bodies.ts'
import { turnsOf } from '../../../bench/turns/conversations.ts'
import { createFollower } from '../../../bench/turns/follow-messages.ts'
import { createPromptCache } from '../../../bench/turns/prompt-cache.ts'
import { vendorPrices } from '../../../src/config/prices.ts'
import type { RouteName } from '../../../src/core/conversation/parse/scan-request.ts'

const PRICES = vendorPrices('anthropic')

/** Messages of ten tokens each. */
const messages = (...meanings: readonly string[]) =>
  meanings.map(meaning => ({ meaning, tokens: 10 }))

describe('a simulated prompt cache', () => {
  it('reads what an earlier turn wrote, and writes what follows up to the breakpoint', () => {
    const cache = createPromptCache(PRICES)
    expect(cache.bill(messages('a', 'b', 'c'), [1])).toEqual({
      read: 0,
      written: 20,
      rest: 10,
      billed: 35,
    })
    const next = cache.bill(messages('a', 'b', 'c', 'd'), [1, 3])
    expect(next).toEqual({ read: 20, written: 20, rest: 0, billed: 2 + 25 })
  })

  it('finds nothing behind a message that changed', () => {
    const cache = createPromptCache(PRICES)
    cache.bill(messages('a', 'b', 'c'), [0, 2])
    expect(cache.bill(messages('a', 'x', 'c'), [2])).toMatchObject({ read: 10, written: 20 })
    expect(cache.bill(messages('x', 'b', 'c'), [2])).toMatchObject({ read: 0, written: 30 })
  })

  it('looks back twenty messages from a breakpoint', () => {
    const many = messages(...Array.from({ length: 30 }, (_, n) => `${n}`))
    const readOf = (at: number) => {
      const cache = createPromptCache(PRICES)
      cache.bill(many, [at])
      return cache.bill(many, [29]).read
    }
    expect(readOf(10)).toBe(110)
    expect(readOf(9)).toBe(0)
  })

  it('forgets what was not used for its life, and keeps what was read meanwhile', () => {
    const cache = createPromptCache(PRICES, 300)
    const turn = (seconds: number) => cache.bill(messages('a', 'b'), [1], seconds).read
    expect([0, 300, 600, 901, 902].map(turn)).toEqual([0, 20, 20, 0, 20])
  })

  it('keeps a prefix that a longer request read', () => {
    const cache = createPromptCache(PRICES, 300)
    cache.bill(messages('a', 'b'), [1], 0)
    cache.bill(messages('a', 'b', 'c'), [2], 200)
    expect(cache.bill(messages('a', 'b', 'x'), [2], 450)).toMatchObject({ read: 20, written: 10 })
  })

  it('forgets nothing without a life', () => {
    const cache = createPromptCache(PRICES)
    cache.bill(messages('a', 'b'), [1], 0)
    expect(cache.bill(messages('a', 'b'), [1], 1e9).read).toBe(20)
  })

  it('without breakpoints reads as much as is the same', () => {
    const cache = createPromptCache(vendorPrices('openai'))
    cache.bill(messages('a', 'b', 'c'), [])
    expect(cache.bill(messages('a', 'b', 'd'), [])).toMatchObject({ read: 20, written: 10 })
  })
})

const STEPS: readonly Step[] = Array.from({ length: 12 }, (_, n) => {
  return { tool: 'Read', args: { content: `${n}` }, text: `text ${n}`, isError: n === 1 }
})
const TERMS = { model: 'm', tools: ['Read'] }
const ROUTES: readonly RouteName[] = ['anthropic_messages', 'openai_chat', 'openai_responses']

describe.each(ROUTES)('turns of a conversation: %s', route => {
  const turn = (end: number, steps = STEPS) =>
    turnBody(route, steps, { end, before: end - 1 }, TERMS).bytes

  it('say the same again, with breakpoints elsewhere', () => {
    const follower = createFollower(route, text => text.length)
    for (const end of STEPS.keys()) {
      const { changedAt, messages: followed } = follower.advance(turn(end + 1))
      expect(changedAt).toBeNull()
      expect(followed.every(({ tokens }) => tokens > 0)).toBe(true)
    }
  })

  it('are seen to change in a letter, and to lose a message', () => {
    const changed = STEPS.map((step, n) => (n === 1 ? { ...step, text: 'texT 1' } : step))
    const follower = createFollower(route, () => 0)
    follower.advance(turn(3))
    // The user's first message, and two for each step.
    expect(follower.advance(turn(4, changed)).changedAt).toBe(4)
    expect(follower.advance(turn(2, changed)).changedAt).toBe(5)
  })
})

it('has no more turns than asked for, and all steps in the last', () => {
  const turns = (steps: number, most: number) =>
    turnsOf({ source: '', name: '', steps: Array(steps) }, most)
  expect(turns(3, 24)).toEqual([1, 2, 3])
  expect(turns(7, 3)).toEqual([3, 6, 7])
  expect(turns(591, 24)).toHaveLength(24)
})
