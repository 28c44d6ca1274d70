import type { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AnswerFraming } from '../../../src/proxy/answer-head.ts'
import type { AnswerRounds, RoundStep } from '../../../src/proxy/answer-rounds.ts'
import type { Failure } from '../../../src/proxy/failures.ts'
import { Guard } from '../../../src/proxy/guard.ts'
import { RoundRelay } from '../../../src/proxy/round-relay.ts'

const EVENTS = 'text/event-stream'
const AGAIN: RoundStep = { kind: 'again', body: Buffer.from('{}') }
const DONE: RoundStep = { kind: 'done', bytes: Buffer.from('END') }

beforeEach(() => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

/** A relay whose rounds end with these steps, and what its client gets. */
function relaying(form: 'events' | 'whole', ...steps: readonly RoundStep[]) {
  const left = [...steps]
  const written: string[] = []
  const failures: Failure[] = []
  const rounds: AnswerRounds = {
    ping: Buffer.from('PING'),
    begin: status => (status === 200 ? form : 'pass'),
    take: bytes => (form === 'events' ? bytes : Buffer.alloc(0)),
    end: async () => left.shift()!,
  }
  const sink = Object.assign(new PassThrough(), {
    headersSent: false,
    chunkedEncoding: false,
    flushHeaders() {},
  })
  sink.on('data', (chunk: Buffer) => written.push(chunk.toString()))
  const outgoing = sink as unknown as ServerResponse
  const relay: RoundRelay = new RoundRelay(
    rounds,
    {
      outgoing,
      guard: new Guard(error => {
        throw error
      }),
      observer: { head() {}, chunk() {}, trailers() {}, end() {} } as never,
      isOver: () => false,
      moved: () => 0,
      writeHead() {
        sink.headersSent = true
        return {} as AnswerFraming
      },
      sendAgain() {},
      ready: () => void relay.complete(),
      fail: failure => void failures.push(failure),
    },
    null as never,
  )
  /** One answer of the upstream, to its end. */
  async function answer(text: string, { status = 200, isOpen = false } = {}): Promise<void> {
    const body = Object.assign(new PassThrough(), {
      statusCode: status,
      rawHeaders: ['content-type', EVENTS],
      rawTrailers: [],
      headers: {},
      complete: true,
    })
    relay.take(body as unknown as IncomingMessage)
    if (isOpen) body.write(text)
    else body.end(text)
    for (let i = 0; i < 5; i++) await turn()
  }
  return { answer, written, failures, relay }
}

describe('while the next round is awaited', () => {
  it('a client of a stream hears something every 10 s, until there is more', async () => {
    const { answer, written } = relaying('events', AGAIN)
    await answer('one')
    vi.advanceTimersByTime(9_999)
    expect(written).toEqual(['one'])
    vi.advanceTimersByTime(20_001)
    await turn()
    expect(written).toEqual(['one', 'PING', 'PING', 'PING'])
    await answer('two', { isOpen: true })
    vi.advanceTimersByTime(60_000)
    await turn()
    expect(written.slice(4)).toEqual(['two'])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('a client of an answer in one piece hears nothing', async () => {
    const { answer, written } = relaying('whole', AGAIN, DONE)
    await answer('one')
    vi.advanceTimersByTime(60_000)
    await turn()
    expect(written).toEqual([])
    await answer('two')
    expect(written).toEqual(['END'])
  })

  it('a refusal is a failure of the answer that has begun, with its status', async () => {
    const { answer, failures, relay } = relaying('events', AGAIN)
    await answer('one')
    await answer('{"error":1}', { status: 529 })
    expect(failures).toMatchObject([{ outcome: 'broken', status: 529, code: 'upstream_refused' }])
    relay.close()
    expect(vi.getTimerCount()).toBe(0)
  })
})
