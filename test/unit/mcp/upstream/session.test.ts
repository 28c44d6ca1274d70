import { describe, expect, it, vi } from 'vitest'
import { type Outcome, readMessage } from '../../../../src/mcp/json-rpc.ts'
import { CallLimit } from '../../../../src/mcp/upstream/call-limit.ts'
import type { LinkEvents, LinkRequest } from '../../../../src/mcp/upstream/link.ts'
import { Session, type SessionCall } from '../../../../src/mcp/upstream/session.ts'
import { createFakeClock } from '../../../support/mcp/fake-clock.ts'

const RESULT: Outcome = { kind: 'result', result: Buffer.from('{}') }

/** A session over a link that keeps what is sent, and answers what a test writes. */
function open(version: string | null = null) {
  const clock = createFakeClock()
  const requests: LinkRequest[] = []
  const sent: string[] = []
  const ignored: string[] = []
  const close = vi.fn(() => Promise.resolve())
  const onNotification = vi.fn()
  const onRequest = vi.fn(() => Promise.resolve(RESULT))
  let events: LinkEvents | undefined
  let isTaking = true
  const session = new Session({
    clock,
    version,
    claims: { capabilities: Buffer.from('{}'), clientInfo: Buffer.from('{}') },
    listener: { onNotification, onRequest, onConnected: () => {}, onLost: () => {} },
    openLink: given => {
      events = given
      return {
        request: request => void requests.push(request),
        send: message => {
          if (!isTaking) return null
          sent.push(`${message}`)
          return Promise.resolve()
        },
        drop: () => true,
        speak: () => {},
        listen: () => {},
        lastErrors: () => '',
        close,
      }
    },
    onIgnored: kind => void ignored.push(kind),
    onGone: reason => void ignored.push(reason),
  })
  const call = (options: Partial<SessionCall> & { signal?: AbortSignal; ms?: number } = {}) => {
    const { signal = new AbortController().signal, ms = 1000, ...rest } = options
    const ask = () => Promise.resolve(RESULT)
    const notify = vi.fn<SessionCall['notify']>()
    const one = { method: 'tools/call', params: null, ask, ...rest, notify }
    return { ...one, end: session.call(one, new CallLimit(signal, ms, clock)) }
  }
  return {
    session,
    stopTaking: () => {
      isTaking = false
    },
    clock,
    requests,
    sent,
    ignored,
    close,
    onNotification,
    onRequest,
    events: events as LinkEvents,
    call,
    receive(text: string, callId: number | null = null) {
      const message = readMessage(Buffer.from(`{"jsonrpc":"2.0",${text}}`))
      if (message === null) throw new Error(`no message: ${text}`)
      events?.onMessage(message, callId)
    },
  }
}

const answered = { kind: 'answered', outcome: RESULT }

describe('an answer', () => {
  it('ends the call with its id, in any order', async () => {
    const { call, receive } = open()
    const [first, second] = [call(), call()]
    receive('"id":2,"result":{"n":2}')
    receive('"id":1,"error":{"n":1}')
    expect(await first.end).toMatchObject({ outcome: { kind: 'error' } })
    expect(await second.end).toMatchObject({ outcome: { result: Buffer.from('{"n":2}') } })
  })

  it.each(['"1"', '1.0', '2', '-1', '99999999999999999999', 'null'])(
    'with the id %s is ignored',
    id => {
      const { call, receive, ignored } = open()
      call()
      receive(`"id":${id},"error":{}`)
      expect(ignored).toEqual(['foreign'])
    },
  )

  it('is ignored after its call ended', async () => {
    const { call, receive, ignored } = open()
    const controller = new AbortController()
    const { end } = call({ signal: controller.signal })
    controller.abort()
    expect(await end).toEqual({ kind: 'aborted' })
    receive('"id":1,"result":{}')
    expect(ignored).toEqual(['foreign'])
  })
})

describe('the end of a call', () => {
  it('comes with its time, and the server is notified', async () => {
    const { call, clock, sent } = open()
    const { end } = call({ ms: 1000 })
    clock.advance(999)
    expect(sent).toEqual([])
    clock.advance(1)
    expect(await end).toEqual({ kind: 'timeout' })
    expect(sent).toEqual([
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"time-out"}}',
    ])
  })

  it('is a loss for all calls if the link is closed', async () => {
    const { call, events, receive, ignored } = open()
    const calls = [call(), call()]
    receive('"method":"notifications/x","params":{}', 1)
    events.onGone('closed')
    expect(await calls[0]?.end).toEqual({ kind: 'lost', hasRun: 'maybe', sawBytes: true })
    expect(await calls[1]?.end).toEqual({ kind: 'lost', hasRun: 'maybe', sawBytes: false })
    expect(ignored).toEqual(['closed'])
  })

  it('is waited for before a session retires', async () => {
    const { session, call, receive, events, close } = open()
    const { end } = call()
    events.onGone('unreachable')
    session.retire()
    expect(close).not.toHaveBeenCalled()
    receive('"id":1,"result":{}')
    expect(await end).toEqual(answered)
    expect(close).toHaveBeenCalledTimes(1)
  })

  it('is an error if parameters have a member twice', async () => {
    const { call, requests } = open()
    const { end } = call({ params: Buffer.from('{"_meta":{},"_meta":{}}') })
    expect(await end).toMatchObject({ kind: 'answered', outcome: { kind: 'error' } })
    expect(requests).toEqual([])
  })

  it('is at once if its client is gone already', async () => {
    const { call, requests } = open()
    expect(await call({ signal: AbortSignal.abort() }).end).toEqual({ kind: 'aborted' })
    expect(requests).toEqual([])
  })
})

describe('a notification', () => {
  it('belongs to the only call, to none of several', () => {
    const { call, receive, onNotification } = open()
    const first = call()
    receive('"method":"notifications/message","params":{"n":1.0}')
    const second = call()
    receive('"method":"notifications/message","params":{"n":2.0}')
    expect(first.notify.mock.calls.map(String)).toEqual(['notifications/message,{"n":1.0}'])
    expect(second.notify).not.toHaveBeenCalled()
    expect(onNotification.mock.calls.map(String)).toEqual(['notifications/message,{"n":2.0}'])
  })

  it('on the stream of a call that ended is ignored', async () => {
    const { call, receive, ignored, onNotification } = open()
    const { end, notify } = call()
    receive('"id":1,"result":{}', 1)
    await end
    receive('"method":"notifications/message"', 1)
    expect(notify).not.toHaveBeenCalled()
    expect(onNotification).not.toHaveBeenCalled()
    expect(ignored).toEqual(['foreign'])
  })

  it('of a subscription belongs to its call', () => {
    const { call, receive, onNotification } = open('2026-07-28')
    const listening = call({ method: 'subscriptions/listen' })
    const other = call()
    const meta = '{"io.modelcontextprotocol/subscriptionId":1}'
    receive(`"method":"notifications/resources/updated","params":{"_meta":${meta}}`)
    receive('"method":"notifications/message","params":{}')
    expect(listening.notify).toHaveBeenCalledTimes(1)
    expect(other.notify).toHaveBeenCalledTimes(1)
    expect(onNotification).not.toHaveBeenCalled()
  })

  it.each(['"x"', '2', '{}'])('of progress with the token %s is ignored', token => {
    const { call, receive, ignored } = open()
    const { notify } = call({ params: Buffer.from('{"_meta":{"progressToken":"x"}}') })
    call()
    receive(`"method":"notifications/progress","params":{"progressToken":${token}}`)
    expect(notify).not.toHaveBeenCalled()
    expect(ignored).toEqual(['foreign'])
  })
})

describe('a request of the server', () => {
  it('goes to the call of its stream, and to the listener outside of calls', async () => {
    const { call, receive, sent, onRequest } = open()
    receive('"id":"a","method":"roots/list"')
    const ask = vi.fn(() => Promise.resolve(RESULT))
    call({ ask })
    call()
    receive('"id":"b","method":"roots/list"', 1)
    await vi.waitFor(() => expect(sent).toHaveLength(2))
    expect(onRequest).toHaveBeenCalledTimes(1)
    expect(ask).toHaveBeenCalledTimes(1)
    expect(sent[1]).toBe('{"jsonrpc":"2.0","id":"b","result":{}}')
  })

  it('is answered with an error if the client fails', async () => {
    const { call, receive, sent } = open()
    call({ ask: () => Promise.reject(new Error('secret')) })
    receive('"id":12345678901234567890,"method":"roots/list"')
    await vi.waitFor(() => expect(sent).toHaveLength(1))
    expect(sent[0]).toMatch(/^\{"jsonrpc":"2.0","id":12345678901234567890,"error":\{"code":-32603/)
    expect(sent[0]).not.toContain('secret')
  })

  it('may be taken back; then it has no answer', async () => {
    const { call, receive, sent } = open()
    let asked: AbortSignal | undefined
    let answer = (_: Outcome) => {}
    const ask: SessionCall['ask'] = (_, __, signal) => {
      asked = signal
      return new Promise(resolve => {
        answer = resolve
      })
    }
    call({ ask })
    receive('"id":"a","method":"sampling/createMessage"')
    receive('"id":"a","method":"sampling/createMessage"')
    expect(sent[0]).toContain('the id is in use')
    receive('"method":"notifications/cancelled","params":{"requestId":"a"}')
    expect(asked?.aborted).toBe(true)
    answer(RESULT)
    receive('"id":"b","method":"ping"')
    await vi.waitFor(() => expect(sent).toHaveLength(2))
    expect(sent[1]).toBe('{"jsonrpc":"2.0","id":"b","result":{}}')
  })

  it('is over when its call is', async () => {
    const { call, receive } = open()
    const signals: AbortSignal[] = []
    const ask: SessionCall['ask'] = (_, __, signal) => {
      signals.push(signal)
      return new Promise(() => {})
    }
    const { end } = call({ ask })
    receive('"id":"a","method":"sampling/createMessage"')
    receive('"id":1,"result":{}')
    await end
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  })

  it('is refused if the server is modern', () => {
    const { call, receive, sent } = open('2026-07-28')
    const ask = vi.fn()
    call({ ask })
    receive('"id":"a","method":"roots/list"')
    expect(ask).not.toHaveBeenCalled()
    expect(sent[0]).toContain('-32601')
  })

  it('is refused beyond those that may wait', () => {
    const { call, receive, sent } = open()
    call({ ask: () => new Promise(() => {}) })
    for (let n = 0; n < 33; n++) receive(`"id":${n},"method":"roots/list"`)
    expect(sent).toHaveLength(1)
    expect(sent[0]).toContain('too many')
  })
})

describe('a flood', () => {
  const log = '"method":"notifications/message","params":{"level":"info","data":"x"}'

  it('of logs reaches the client in part', () => {
    const { receive, onNotification, ignored } = open()
    for (let n = 0; n < 5_000; n++) receive(log)
    expect(onNotification).toHaveBeenCalledTimes(1_000)
    expect(ignored).toHaveLength(4_000)
  })

  it('leaves changes of lists and later logs', () => {
    const { receive, onNotification, clock } = open()
    for (let n = 0; n < 1_000; n++) receive(log)
    receive('"method":"notifications/tools/list_changed"')
    receive(log)
    expect(onNotification).toHaveBeenCalledTimes(1_001)
    clock.advance(1_000)
    receive(log)
    expect(onNotification).toHaveBeenCalledTimes(1_002)
  })

  it.each([
    ['logs', log],
    ['pings', '"id":1,"method":"ping"'],
    ['answers', '"id":77,"result":{}'],
  ])('of %s ends the session, and its calls say why', async (_, text) => {
    const { receive, call, ignored, close } = open()
    const { end } = call()
    for (let n = 0; n < 20_001; n++) receive(text)
    expect(await end).toEqual({ kind: 'flooded' })
    expect(ignored.at(-1)).toBe('flooded')
    expect(close).toHaveBeenCalledTimes(1)
    const after = ignored.length
    receive(text)
    expect(ignored).toHaveLength(after)
  })

  it('of pings whose answers are not taken ends the session at once', async () => {
    const { receive, call, stopTaking } = open()
    const { end } = call()
    stopTaking()
    receive('"id":1,"method":"ping"')
    expect(await end).toEqual({ kind: 'flooded' })
  })
})
