import type { IncomingMessage } from 'node:http'
import { duplexPair } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Guard } from '../../../src/proxy/guard.ts'
import { type Phase, TimeLimits } from '../../../src/proxy/time-limits.ts'
import { joinStreams, wantsUpgrade } from '../../../src/proxy/tunnel.ts'

const LIMITS = { connect_ms: 10, headers_ms: 300, idle_ms: 50, total_ms: 1000 }

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

describe('the limits of an exchange', () => {
  function limits() {
    const late: string[] = []
    return { late, limits: new TimeLimits(LIMITS, phase => late.push(phase)) }
  }

  it.each([
    ['connect', 10],
    ['send', 50],
    ['continue', 50],
    ['headers', 300],
    ['body', 50],
  ] as const)('are one at a time: %s', (phase, ms) => {
    const { late, limits: clock } = limits()
    clock.enter(phase === 'connect' ? 'send' : 'connect')
    clock.enter(phase)
    vi.advanceTimersByTime(ms - 1)
    expect(late).toEqual([])
    vi.advanceTimersByTime(1)
    expect(late).toEqual([phase])
  })

  it.each([
    ['send', true],
    ['body', true],
    ['connect', false],
    ['headers', false],
  ] as const)('while in %s, a byte puts the end off: %s', (phase: Phase, putOff) => {
    const { late, limits: clock } = limits()
    clock.enter(phase)
    const ms = { ...LIMITS, send_ms: 50, body_ms: 50, continue_ms: 50 }[`${phase}_ms`]
    vi.advanceTimersByTime(ms - 1)
    clock.progress()
    vi.advanceTimersByTime(ms - 1)
    expect(late).toEqual(putOff ? [] : [phase])
  })

  it('have an end for all, whatever moves, and none when it is over', () => {
    const { late, limits: clock } = limits()
    clock.enter('body')
    for (let at = 0; at < 999; at++) {
      vi.advanceTimersByTime(1)
      clock.progress()
    }
    expect(late).toEqual([])
    vi.advanceTimersByTime(1)
    expect(late).toEqual(['total'])
    clock.close()
    clock.enter('connect')
    vi.advanceTimersByTime(2000)
    expect(late).toEqual(['total'])
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('a tunnel', () => {
  it.each(['client', 'upstream'])('stays while a byte comes from the %s in time', async side => {
    const [client, ourClient] = duplexPair()
    const [upstream, ourUpstream] = duplexPair()
    const ended = vi.fn()
    const head = Buffer.alloc(0)
    const guard = new Guard(vi.fn())
    const options = { guard, idleMs: 50, ended }
    joinStreams({ stream: ourClient, head }, { stream: ourUpstream, head }, options)
    const [from, to] = side === 'client' ? [client, upstream] : [upstream, client]
    for (let round = 0; round < 3; round++) {
      vi.advanceTimersByTime(49)
      const came = new Promise(resolve => to.once('data', resolve))
      from.write('x')
      await came
    }
    expect(ourClient.destroyed).toBe(false)
    vi.advanceTimersByTime(50)
    await new Promise(resolve => setImmediate(resolve))
    const [sent, received] = side === 'client' ? [3, 0] : [0, 3]
    expect(ended).toHaveBeenCalledExactlyOnceWith('timed_out', sent, received)
  })
})

describe('an upgrade', () => {
  const upgrade = 'websocket'

  it.each([
    ['GET', { upgrade }, true],
    ['GET', { upgrade: 'foo/2' }, true],
    ['GET', { upgrade, 'content-length': '0' }, true],
    ['GET', {}, false],
    ['POST', { upgrade }, false],
    ['GET', { upgrade, 'content-length': '2' }, false],
    ['GET', { upgrade, 'transfer-encoding': 'chunked' }, false],
    ['GET', { upgrade: 'h2c' }, false],
    ['GET', { upgrade: 'H2C, websocket' }, false],
  ])('is wanted by %s with %o: %s', (method, headers, wanted) => {
    expect(wantsUpgrade({ method, headers } as IncomingMessage)).toBe(wanted)
  })
})
