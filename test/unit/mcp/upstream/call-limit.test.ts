import { expect, it, vi } from 'vitest'
import { CallLimit } from '../../../../src/mcp/upstream/call-limit.ts'
import { createFakeClock } from '../../../support/mcp/fake-clock.ts'

function limited(ms = 100) {
  const clock = createFakeClock()
  const controller = new AbortController()
  return { clock, controller, limit: new CallLimit(controller.signal, ms, clock) }
}

it('ends a call once, by its time or by its client', () => {
  const byTime = limited()
  const byClient = limited()
  const handlers = [vi.fn(), vi.fn()] as const
  byTime.limit.onStop(handlers[0])
  byClient.limit.onStop(handlers[1])
  byTime.clock.advance(100)
  byTime.controller.abort()
  byClient.controller.abort('why')
  byClient.clock.advance(100)
  expect(handlers.map(({ mock }) => mock.calls)).toEqual([[['timeout']], [['aborted']]])
  expect([byTime.limit.reason, byClient.limit.reason]).toEqual(['timeout', 'aborted'])
  expect([byTime.limit.detail, byClient.limit.detail]).toEqual([null, 'why'])
})

it('tells nobody who forgot it, and nobody after the call', () => {
  const { clock, controller, limit } = limited()
  const forgetful = vi.fn()
  limit.onStop(forgetful)()
  const late = vi.fn()
  limit.onStop(late)
  limit.release()
  controller.abort()
  clock.advance(1000)
  expect(forgetful).not.toHaveBeenCalled()
  expect(late).not.toHaveBeenCalled()
  expect(clock.waiting()).toBe(0)
})

it('may have no time', () => {
  const { clock, limit } = limited(Number.POSITIVE_INFINITY)
  expect(clock.waiting()).toBe(0)
  expect(limit.reason).toBeNull()
})

it('ends what a call waits for', async () => {
  const { clock, limit } = limited()
  expect(await limit.race(Promise.resolve(1))).toBe(1)
  await expect(limit.race(Promise.reject(new Error('x')))).rejects.toThrow('x')
  const waiting = limit.race(new Promise(() => {}))
  clock.advance(100)
  expect(await waiting).toBeNull()
  expect(await limit.race(Promise.resolve(1))).toBeNull()
})
