import { describe, expect, it } from 'vitest'
import { turnsOf } from '../../../bench/turns/conversations.ts'
import type { RouteName } from '../../../src/core/dialects/lookup.ts'
import { type Step, turnBody } from '../../support/turns/bodies.ts'
import { createFollower } from '../../support/turns/follow-messages.ts'

const STEPS: readonly Step[] = Array.from({ length: 12 }, (_, n) => {
  return { tool: 'Read', args: { content: `${n}` }, text: `text ${n}`, isError: n === 1 }
})
const TERMS = { model: 'm', tools: ['Read'] }
const ROUTES: readonly RouteName[] = ['anthropic_messages', 'openai_chat', 'openai_responses']

describe.each(ROUTES)('turns of a conversation: %s', route => {
  const turn = (end: number, steps = STEPS) =>
    turnBody(route, steps, { end, before: end - 1 }, TERMS)

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
