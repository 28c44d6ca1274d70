import { beforeEach, describe, expect, it } from 'vitest'
import { AgentContexts } from '../../../src/ahead/agent-contexts.ts'
import { OFFER } from '../../support/offer.ts'

const CALL = { key: 'read a', server: 'files', hosts: [] }
const HOUR_MS = 3_600_000
let now: number
let contexts: AgentContexts

beforeEach(() => {
  now = 0
  contexts = new AgentContexts(() => now)
  contexts.observeCall('x', CALL)
})

const has = (context: string) => contexts.isInContext(context, CALL.key)

describe('a call that was made', () => {
  it('is in its own context, and in no other one', () => {
    expect([has('x'), has('y')]).toEqual([true, false])
  })

  it.each<readonly [string, () => void]>([
    ['its context ended', () => contexts.forget('x')],
    ['its server may have changed', () => contexts.changed('files')],
    ['it had no result', () => contexts.withdraw('x', CALL.key)],
  ])('is not in it after %s', (_, event) => {
    contexts.observeCall('y', CALL)
    event()
    expect(has('x')).toBe(false)
    contexts.observeCall('x', CALL)
    expect(has('x')).toBe(true)
  })

  it('is gone with a context that was idle for an hour', () => {
    now += HOUR_MS
    contexts.observeCall('x', { ...CALL, key: 'another' })
    expect(has('x')).toBe(false)
  })

  it('is forgotten after 256 other ones', () => {
    for (let at = 1; at <= 256; at++) {
      expect(has('x')).toBe(true)
      contexts.observeCall('x', { ...CALL, key: `${at}` })
    }
    expect(has('x')).toBe(false)
  })
})

it('an offered call is decided once, however often it is offered meanwhile', () => {
  const facts = {
    offer: OFFER,
    key: 'get 1',
    server: 'files',
    tool: 'get',
    session: null,
    predicted: 1,
  }
  contexts.watch('x', [facts, facts])
  contexts.watch('x', [facts])
  const call = { ...CALL, key: facts.key }
  expect(contexts.observeCall('x', call)).toEqual([{ facts, isUsed: true }])
  expect(contexts.observeCall('x', call)).toEqual([])
})
