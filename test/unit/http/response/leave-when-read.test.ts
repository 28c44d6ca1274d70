import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { leaveWhenRead } from '../../../../src/http/response/answers.ts'
import type { Ticket } from '../../../../src/pool/admission.ts'
import { inContext } from '../http-context.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** An answer on its way to a client, and what becomes of its place. */
async function leaving(bindings: 'none' | 'open' | 'gone', answerBytes = 0) {
  const noted: string[] = []
  const ticket = {
    add: (bytes: number) => void noted.push(`add ${bytes}`),
    leave: () => void noted.push('leave'),
  } as unknown as Ticket
  const outgoing = Object.assign(new EventEmitter(), {
    destroyed: bindings === 'gone',
    destroy: () => void noted.push('destroy'),
  })
  const env = bindings === 'none' ? {} : { outgoing: outgoing as never }
  await inContext({}, c => leaveWhenRead(c, ticket, answerBytes, 7), env)
  return { noted, outgoing }
}

describe('the place of an answer', () => {
  test.each(['none', 'gone'] as const)('is left at once if no client reads it: %s', async how => {
    const { noted } = await leaving(how)
    expect(noted).toEqual(['leave'])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('is held until the answer is out', async () => {
    const { noted, outgoing } = await leaving('open')
    expect(noted).toEqual(['add 7'])
    outgoing.emit('close')
    outgoing.emit('close')
    expect(noted).toEqual(['add 7', 'leave'])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('is lost with the connection by a client that reads below 100 kB a second', async () => {
    const { noted } = await leaving('open', 1_000_000)
    vi.advanceTimersByTime(30_000 + 10_000 - 1)
    expect(noted).toEqual(['add 7'])
    vi.advanceTimersByTime(1)
    expect(noted).toEqual(['add 7', 'destroy'])
  })
})
