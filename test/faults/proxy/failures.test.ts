import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { dial, front, message, rawUpstream } from '../../integration/proxy/stand-in.ts'
import { exchange as answersTo } from '../../support/raw-http.ts'
import { FULL_RUNS } from '../../support/runs.ts'

const GET = message(['GET /api/ HTTP/1.1', 'Host: us', 'Connection: close'])
const EVENTS = ['HTTP/1.1 200 OK', 'Content-Type: text/event-stream; charset=utf-8']
const CHUNKED = 'Transfer-Encoding: chunked'

/** A request, and the upstream's side of its connection. */
async function begun(options: Omit<Parameters<typeof front>[0], 'base'> = {}, bytes = GET) {
  const upstream = await rawUpstream()
  const proxy = await front({ base: upstream.url, ...options })
  const client = dial(proxy.url, bytes)
  const wire = await upstream.next()
  await wire.until('\r\n\r\n')
  return { upstream, proxy, client, wire }
}

async function nobody(): Promise<URL> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return new URL(`http://127.0.0.1:${address.port}`)
}

describe('before the first byte', () => {
  it.each([
    ['anthropic', { type: 'error', error: { type: 'api_error', message: expect.any(String) } }],
    [
      'openai',
      {
        error: {
          message: expect.any(String),
          type: 'server_error',
          param: null,
          code: 'upstream_unreachable',
        },
      },
    ],
  ] as const)('%s clients get their own error when there is no upstream', async (vendor, body) => {
    const extraHeaders = { 'x-ours': '1' }
    const proxy = await front({ base: await nobody(), vendor, options: { extraHeaders } })
    const answer = await fetch(new URL('/api/', proxy.url))
    expect(answer.status).toBe(502)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('x-ours')).toBe('1')
    expect(await answer.json()).toEqual(body)
    expect(await proxy.exchanges[0]).toMatchObject({
      outcome: 'unreachable',
      status: 502,
      first_byte_ms: null,
      error: 'ECONNREFUSED',
    })
  })

  it.each([
    ['nothing', '', 'broken'],
    ['half a head', 'HTTP/1.1 200 OK\r\nX-A: ', 'broken'],
    ['no HTTP', 'SSH-2.0-x\r\n\r\n', 'broken'],
    [
      'a coding that was not asked for',
      message([...EVENTS, 'Transfer-Encoding: gzip, chunked']),
      'broken',
    ],
    ['a status that is none', message(['HTTP/1.1 099 No', 'Content-Length: 0']), 'broken'],
    [
      'a switch of protocols',
      message(['HTTP/1.1 101 Sure', 'Upgrade: x', 'Connection: upgrade']),
      'broken',
    ],
  ])('%s gives the error too', async (_, bytes, outcome) => {
    const { client, wire, proxy } = await begun()
    wire.socket.end(bytes)
    expect(await client.all()).toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\n.*"api_error"/s)
    expect(await proxy.exchanges[0]).toMatchObject({ outcome, status: 502 })
  })

  it('a reset gives the error too', async () => {
    const { client, wire, proxy } = await begun()
    wire.socket.resetAndDestroy()
    expect(await client.all()).toContain('HTTP/1.1 502 Bad Gateway')
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'broken', error: 'ECONNRESET' })
  })
})

describe('in the middle of an answer', () => {
  it.each([
    ['anthropic', 'event: error\ndata: {"type":"error","error":{"type":"api_error",'],
    ['openai', 'data: {"error":{'],
  ] as const)('%s clients get an error event between two events', async (vendor, event) => {
    const { client, wire, proxy } = await begun({ vendor })
    const chunk = vendor === 'openai' ? 'a\r\ndata: {}\n\n' : 'c\r\ndata: {}\r\n\r\n'
    wire.socket.write(message([...EVENTS, CHUNKED], `${chunk}\r\n`))
    await client.until(chunk)
    wire.socket.resetAndDestroy()
    const text = await client.all()
    expect(text).toContain(`\r\n${event}`)
    expect(text).toMatch(/\}\n\n\r\n0\r\n\r\n$/)
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'broken', status: 200 })
  })

  it.each([
    ['an event', [...EVENTS, CHUNKED], '5\r\ndata:\r\n'],
    ['JSON in chunks', ['HTTP/1.1 200 OK', CHUNKED], '5\r\ndata:\r\n'],
    ['JSON of a known length', ['HTTP/1.1 200 OK', 'Content-Length: 20'], 'data:'],
    ['events of a known length', [...EVENTS, 'Content-Length: 20'], 'data:\n\n'],
    ['compressed events', [...EVENTS, 'Content-Encoding: gzip', CHUNKED], '7\r\ndata:\n\n\r\n'],
  ])('%s is not made to look complete', async (_, lines, body) => {
    const { client, wire, proxy } = await begun()
    wire.socket.write(message(lines, body))
    await client.until('data:')
    wire.socket.destroy()
    const text = await client.all()
    expect(text).toMatch(/data:\s*$/)
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'broken', status: 200 })
  })

  it('broken chunks end it', async () => {
    const { client, wire, proxy } = await begun()
    wire.socket.write(message(['HTTP/1.1 200 OK', CHUNKED], '5\r\ndata:\r\nzz\r\n'))
    expect(await client.all()).not.toMatch(/\r\n0\r\n/)
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'broken' })
  })

  it('a client that knows the end by the connection alone sees a reset', async () => {
    const { client, wire } = await begun({}, message(['GET /api/ HTTP/1.0']))
    wire.socket.write(message(['HTTP/1.1 200 OK', CHUNKED], '4\r\nhalf\r\n'))
    await client.until('half')
    wire.socket.destroy()
    await client.all()
    expect(client.error).toBe('ECONNRESET')
  })
})

/** In turns of the event loop, see `whileTimePasses`. */
const LIMIT_MS = 500
/** More than the system's buffers of two connections hold. */
const LARGE_BYTES = FULL_RUNS ? 64_000_000 : 20_000_000

/**
 * Waits with a clock that goes on by a millisecond in each turn of the event loop: a limit is
 * reached when so many turns have moved nothing, however fast the machine is.
 */
async function whileTimePasses<T>(promise: Promise<T>): Promise<T> {
  let isSettled = false
  const settle = () => {
    isSettled = true
  }
  promise.then(settle, settle)
  while (!isSettled) {
    vi.advanceTimersByTime(1)
    await nextTurn()
  }
  return await promise
}

describe('time limits', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  const POST = message(['POST /api/ HTTP/1.1', 'Host: us', 'Content-Length: 9'], 'begun')

  it.each([
    [
      'for a connection',
      { connect_ms: LIMIT_MS },
      'https',
      'upstream_connect_timeout',
      504,
      'timeout_error',
    ],
    [
      'for the head of the answer',
      { headers_ms: LIMIT_MS },
      'http',
      'upstream_timeout',
      504,
      'timeout_error',
    ],
    ['for all', { total_ms: LIMIT_MS }, 'http', 'upstream_timeout', 504, 'timeout_error'],
  ])('%s', async (_, limits, scheme, error, status, type) => {
    const upstream = await rawUpstream()
    const proxy = await front({ base: new URL(`${scheme}://${upstream.url.host}`), limits })
    const client = dial(proxy.url, GET)
    const text = await whileTimePasses(client.all())
    expect(text).toContain(`HTTP/1.1 ${status} `)
    expect(text).toContain(`"${type}"`)
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'timed_out', status, error })
    await (await upstream.next()).all()
  })

  it('for a client that does not send on', async () => {
    const { client, wire, proxy } = await begun({ limits: { idle_ms: LIMIT_MS } }, POST)
    await whileTimePasses(client.until('"timeout_error"'))
    expect(client.text).toContain('HTTP/1.1 408 ')
    await wire.all()
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'aborted', error: 'request_timeout' })
  })

  it('for an upstream that does not read on', async () => {
    const head = ['POST /api/ HTTP/1.1', 'Host: us', `Content-Length: ${LARGE_BYTES}`]
    const { client, wire, proxy } = await begun({ limits: { idle_ms: LIMIT_MS } }, message(head))
    wire.socket.pause()
    client.socket.write(Buffer.alloc(LARGE_BYTES))
    await whileTimePasses(client.until('"timeout_error"'))
    expect(client.text).toContain('HTTP/1.1 504 ')
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'timed_out' })
  })

  it('for an upstream that does not read a whole body', async () => {
    const head = ['POST /api/ HTTP/1.1', 'Host: us', `Content-Length: ${LARGE_BYTES}`]
    const options = { whole: true, limits: { idle_ms: LIMIT_MS } }
    const upstream = await rawUpstream()
    const proxy = await front({ base: upstream.url, ...options })
    const client = dial(proxy.url, message(head))
    client.socket.write(Buffer.alloc(LARGE_BYTES))
    const wire = await upstream.next()
    wire.socket.pause()
    await whileTimePasses(client.until('"timeout_error"'))
    expect(client.text).toContain('HTTP/1.1 504 ')
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'timed_out' })
  })

  it('for the next part of an answer', async () => {
    const { client, wire, proxy } = await begun({ limits: { idle_ms: LIMIT_MS } })
    wire.socket.write(message([...EVENTS, CHUNKED], '7\r\ndata:\n\n\r\n'))
    expect(await whileTimePasses(client.all())).toMatch(
      /event: error\ndata: .*"timeout_error".*\n\n\r\n0\r\n\r\n$/,
    )
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'timed_out', status: 200 })
    await wire.all()
  })

  it('for a client that does not read on', async () => {
    const { client, wire, proxy } = await begun({ limits: { idle_ms: LIMIT_MS } })
    client.socket.pause()
    wire.socket.write(message(['HTTP/1.1 200 OK', `Content-Length: ${LARGE_BYTES}`]))
    wire.socket.write(Buffer.alloc(LARGE_BYTES))
    const exchange = await whileTimePasses(proxy.exchanges[0]!)
    expect(exchange).toMatchObject({ outcome: 'aborted', status: 200 })
    await wire.all()
  })
})

it('the server’s limit for quiet connections does not end those that wait for an answer', async () => {
  const upstream = await rawUpstream()
  const proxy = await front({ base: upstream.url })
  const connected = once(proxy.server, 'connection') as Promise<[Socket]>
  const client = dial(proxy.url, GET)
  const wire = await upstream.next()
  const [socket] = await connected
  // As `server.timeout` does, but not before the request is under way.
  socket.setTimeout(20)
  await once(socket, 'timeout')
  wire.socket.end(message(['HTTP/1.1 204 No Content']))
  expect(await client.all()).toContain('204 No Content')
})

describe('a kept connection', () => {
  const POST = message(['POST /api/ HTTP/1.1', 'Host: us', 'Content-Length: 4'], 'body')
  const EMPTY = message(['HTTP/1.1 200 OK', 'Content-Length: 0'])

  /** Two requests, of which the second finds the kept connection closed when it comes. */
  async function second(bytes: string, whole: boolean, before = '') {
    const { upstream, proxy, client, wire } = await begun({ whole }, bytes)
    await wire.until(bytes.slice(-4))
    wire.socket.write(EMPTY)
    await proxy.exchanges[0]
    await client.until('\r\n\r\n')
    const length = wire.text.length
    client.socket.write(bytes)
    while (wire.text.length === length) await wire.more()
    if (before !== '') wire.socket.write(before)
    wire.socket.end()
    return { upstream, proxy }
  }

  it.each([
    ['without a body', GET.replace('Connection: close', 'X-A: b'), false],
    ['with a whole body', POST, true],
  ])('that turns out to be dead is replaced for a request %s', async (_, bytes, whole) => {
    const { upstream, proxy } = await second(bytes, whole)
    const fresh = await upstream.next()
    expect(await fresh.until(bytes.slice(-4))).toContain(whole ? 'POST / ' : 'GET / ')
    fresh.socket.resetAndDestroy()
    expect(await proxy.exchanges[1]).toMatchObject({ outcome: 'broken', retried: true })
    expect(upstream.connections.length).toBe(2)
  })

  it.each([
    ['whose body was not kept', false, ''],
    ['that was begun to be answered', true, 'HTTP/1.1 '],
    ['that got an interim answer', true, message(['HTTP/1.1 103 Early Hints'])],
  ])('is not replaced for a request %s', async (_, whole, before) => {
    const { upstream, proxy } = await second(POST, whole, before)
    expect(await proxy.exchanges[1]).toMatchObject({
      outcome: 'broken',
      status: 502,
      retried: false,
    })
    expect(upstream.connections.length).toBe(1)
  })

  it('is replaced by a new one, as the others that were kept may be dead too', async () => {
    const { upstream, proxy, client, wire } = await begun({ whole: true }, POST)
    const other = dial(proxy.url, POST)
    const second = await upstream.next()
    for (const kept of [wire, second]) {
      await kept.until('body')
      kept.socket.write(EMPTY)
      kept.socket.once('data', () => kept.socket.resetAndDestroy())
    }
    await Promise.all([client.until('\r\n\r\n'), other.until('\r\n\r\n'), ...proxy.exchanges])
    client.socket.write(POST)
    const fresh = await upstream.next()
    await fresh.until('body')
    fresh.socket.write(EMPTY)
    expect(await proxy.exchanges[2]).toMatchObject({ outcome: 'answered', retried: true })
  })

  it('a kept connection is used for the next request', async () => {
    const { upstream, proxy, client, wire } = await begun({}, POST)
    await wire.until('body')
    wire.socket.write(EMPTY)
    await proxy.exchanges[0]
    client.socket.write(POST.replace('/api/', '/api/2'))
    await wire.until('POST /2 ')
    expect(upstream.connections.length).toBe(1)
  })
})

describe('closing', () => {
  it('ends what is under way and refuses what comes', async () => {
    const { proxy, client, wire } = await begun()
    const streaming = dial(proxy.url, GET)
    wire.socket.write(message([...EVENTS, CHUNKED], '7\r\ndata:\n\n\r\n'))
    await client.until('data:')
    await proxy.forwarder.close()
    expect(await client.all()).toMatch(/event: error\ndata: .*"overloaded_error"/)
    expect(await streaming.all()).toMatch(/^(?:HTTP\/1\.1 503 .*"overloaded_error".*)?$/s)
    await wire.all()
    const late = await answersTo(proxy.url.href, GET)
    expect(late.answers[0]).toMatchObject({ status: 503 })
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'closed' })
  })

  it('is refused to an upstream that is none', async () => {
    for (const url of ['ftp://a', 'https://a?x=1', 'https://u:p@a', 'https://a/#x']) {
      await expect(front({ base: new URL(url) })).rejects.toThrow(TypeError)
    }
  })
})
