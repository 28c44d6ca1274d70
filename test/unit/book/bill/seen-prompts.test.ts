import { expect, it } from 'vitest'
import { NO_ACCOUNT } from '../../../../src/book/bill/account.ts'
import { billOf } from '../../../../src/book/bill/request-row.ts'
import { seenPrompt } from '../../../../src/book/bill/seen-prompt.ts'
import { SeenPrompts } from '../../../../src/book/bill/seen-prompts.ts'

const PLACE = { tenant: 't', vendor: 'anthropic', conversation: 'c', session: undefined } as const
const DIGESTS = { model: 1, tools: 1, system: 1, first_message: 1, settings: 1, kind: 7 }

const print = (at: number, history: number[], next: string | null = 'next') => ({
  ...{ ...DIGESTS, at, life_ms: 300_000, turns: 1, next, history },
})

function remembered(...prints: ReturnType<typeof print>[]) {
  const prompts = new SeenPrompts()
  for (const each of prints) prompts.remember(PLACE, seenOf(each), each)
  const before = (history: number[], next: string | null = 'next', place: object = {}) =>
    prompts.before({ ...PLACE, ...place }, print(99, history, next))?.at ?? null
  return { prompts, before }
}

const seenOf = (each: ReturnType<typeof print>) =>
  seenPrompt(each, { cached: 9, begunMs: 0, guard: { isLong: false, premium: 0, spent: 0 } })

it('the prompt before is the longest that is continued, else the last of its conversation', () => {
  const { before } = remembered(
    ...[print(1, [], null), print(2, [1, 2, 3]), print(3, [1, 2, 8]), print(4, [7])],
  )
  expect(before([1, 2, 3, 4])).toBe(2)
  expect(before([1, 2, 8, 9])).toBe(3)
  expect(before([7, 6])).toBe(4)
  expect(before([5])).toBe(4)
  // A new branch from the opening, and the opening once more.
  expect(before([1], 'another')).toBe(1)
  expect(before([], null)).toBe(1)
  expect(before([1, 2, 3], 'next', { vendor: 'openai' })).toBeNull()
  expect(before([1, 2, 3], 'next', { tenant: 'u' })).toBeNull()
  // The first message of a model is in one conversation, an opening may be in several.
  expect(before([1, 2, 3], 'next', { conversation: 'd', session: 's' })).toBe(2)
  expect(before([], null, { conversation: 'd' })).toBeNull()
  expect(before([], null, { session: 's' })).toBeNull()
})

it('a prompt takes the place of those that it continues, of four branches', () => {
  const { before } = remembered(print(1, [1]), print(2, [1, 2]), print(3, [3]), print(4, [3, 3]))
  expect([before([1]), before([1, 2]), before([3, 4])]).toEqual([4, 2, 4])
  const five = remembered(...[1, 2, 3, 4, 5].map(each => print(each, [each])))
  expect([1, 2, 3, 4, 5].map(each => five.before([each]))).toEqual([5, 2, 3, 4, 5])
})

it('what another process saw is taken if nothing later is known of it', () => {
  const { prompts, before } = remembered(print(5, [1]))
  const restore = (at: number, next: string | null, more: object = {}) => {
    const usage = { ...NO_ACCOUNT.usage, cache_read: at }
    const of = { id: 'c', model: `m${at}`, cached: 0, seen: seenOf(print(at, [1], next)), ...more }
    const row = { ...PLACE, currency: '', untouched: null, prefixChanged: false, conversation: of }
    prompts.restore('t', billOf({ ...row, at, account: { ...NO_ACCOUNT, usage } }))
  }
  for (const at of [4, 5]) restore(at, 'next')
  expect(before([1])).toBe(5)
  restore(6, 'next')
  restore(2, null)
  expect([before([1]), before([], null)]).toEqual([6, 2])
  restore(7, 'unseen', { seen: undefined })
  restore(0, 'next')
  const reads = (model: string, of: object = {}) => prompts.reads({ ...PLACE, ...of }, model, 0)
  expect(['m4', 'm7', 'm0', 'other'].map(model => reads(model))).toEqual([true, true, false, false])
  expect([reads('m4', { vendor: 'openai' }), reads('m4', { tenant: 'u' })]).toEqual([false, false])
})
