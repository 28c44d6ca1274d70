import { describe, expect, it } from 'vitest'
import { dial, front, message, rawUpstream } from './stand-in.ts'

/** The example of RFC 6455 §1.3. */
const HANDSHAKE = [
  'GET /api/v1/realtime?model=x HTTP/1.1',
  'Host: us',
  'upgrade: websocket',
  'X-Haversack-Key: hk',
  'connection: keep-alive, Upgrade',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Authorization: Bearer sk',
]
const SWITCHED = [
  'HTTP/1.1 101 Switching Protocols',
  'UPGRADE: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
]

async function asked(options: Omit<Parameters<typeof front>[0], 'base'> = {}, rest = '') {
  const upstream = await rawUpstream()
  const proxy = await front({ base: upstream.url, ...options })
  const client = dial(proxy.url, message(HANDSHAKE, rest))
  const wire = await upstream.next()
  await wire.until('\r\n\r\n')
  return { upstream, proxy, client, wire }
}

async function joined(options: Omit<Parameters<typeof front>[0], 'base'> = {}) {
  const both = await asked(options)
  both.wire.socket.write(message(SWITCHED))
  await both.client.until('\r\n\r\n')
  return both
}

describe('an upgrade', () => {
  it('passes the handshake and then bytes both ways, those that came too early too', async () => {
    const { proxy, client, wire, upstream } = await asked({}, 'early')
    expect(wire.text).toBe(
      message([
        'GET /v1/realtime?model=x HTTP/1.1',
        `Host: ${upstream.url.host}`,
        'upgrade: websocket',
        'connection: Upgrade',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        'Authorization: Bearer sk',
      ]),
    )
    wire.socket.write(message(SWITCHED, 'hello'), 'latin1')
    expect(await client.until('hello')).toBe(message(SWITCHED, 'hello'))
    await wire.until('\r\n\r\nearly')
    const frame = '\x81\x85\xff\x00\x0d\x0a1'
    client.socket.write(frame, 'latin1')
    await wire.until(`early${frame}`)
    wire.socket.write(frame, 'latin1')
    await client.until(`hello${frame}`)
    client.socket.end()
    await wire.all()
    await client.all()
    expect(await proxy.exchanges[0]).toMatchObject({
      outcome: 'answered',
      status: 101,
      sent_bytes: 12,
      received_bytes: 12,
    })
  })

  it('that the upstream ends is ended with all that it sent', async () => {
    const { proxy, client, wire } = await joined()
    const last = 'x'.repeat(1_000_000)
    wire.socket.end(last)
    expect((await client.all()).endsWith(`\r\n\r\n${last}`)).toBe(true)
    expect(await proxy.exchanges[0]).toMatchObject({
      outcome: 'answered',
      received_bytes: 1_000_000,
    })
  })

  it.each([
    ['client', 'aborted'],
    ['upstream', 'broken'],
  ])('that the %s resets is gone on both sides', async (side, outcome) => {
    const { proxy, client, wire } = await joined()
    const [breaks, sees] = side === 'client' ? [client, wire] : [wire, client]
    breaks.socket.resetAndDestroy()
    await sees.all()
    expect(await proxy.exchanges[0]).toMatchObject({ outcome })
  })

  it('on which nothing moves is ended', async () => {
    const { proxy, client, wire } = await joined({ limits: { idle_ms: 20 } })
    await Promise.all([client.all(), wire.all()])
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'timed_out', status: 101 })
  })

  it('is ended when the forwarder closes', async () => {
    const { proxy, client, wire } = await joined()
    await proxy.forwarder.close()
    await Promise.all([client.all(), wire.all()])
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'closed' })
  })

  it('that is declined gives the answer, however long', async () => {
    const { proxy, client, wire } = await asked()
    client.socket.pause()
    const body = 'n'.repeat(8_000_000)
    wire.socket.end(message(['HTTP/1.1 401 Unauthorized', 'Content-Length: 8000000'], body))
    client.socket.resume()
    const head = ['HTTP/1.1 401 Unauthorized', 'Content-Length: 8000000', 'Connection: close']
    expect(await client.all()).toBe(message(head, body))
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'answered', status: 401 })
  })

  it('gives the vendor’s error where there is no answer', async () => {
    const { proxy, client, wire } = await asked({ vendor: 'openai' })
    wire.socket.destroy()
    expect(await client.all()).toMatch(/^HTTP\/1\.1 502 .*"upstream_broken"/s)
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'broken', status: 502 })
  })

  it('whose client leaves before the answer is given up', async () => {
    const { proxy, client, wire } = await asked()
    client.socket.resetAndDestroy()
    await wire.all()
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'aborted', status: null })
  })

  it('behind an answer that is still on its way ends the connection', async () => {
    const upstream = await rawUpstream()
    const proxy = await front({ base: upstream.url })
    const first = message(['GET /api/ HTTP/1.1', 'Host: us'])
    const client = dial(proxy.url, first + message(HANDSHAKE))
    await client.all()
    expect(await proxy.exchanges[1]).toMatchObject({ outcome: 'aborted', status: null })
  })
})

describe('what only looks like one', () => {
  it('is refused where a body is to be read before the protocol changes', async () => {
    const upstream = await rawUpstream()
    const proxy = await front({ base: upstream.url, shouldUpgrade: () => true })
    const lines = ['POST /api/ HTTP/1.1', 'Host: us', 'Upgrade: x', 'Connection: upgrade']
    const client = dial(proxy.url, message([...lines, 'Content-Length: 9'], 'bo'))
    expect(await client.all()).toMatch(/^HTTP\/1\.1 400 /)
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'refused' })
  })

  it.each([
    ['h2c', ['GET /api/ HTTP/1.1', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'], ''],
    ['with a body', ['POST /api/ HTTP/1.1', 'Upgrade: websocket', 'Content-Length: 4'], 'body'],
  ])('%s is forwarded without it', async (_, lines, body) => {
    const upstream = await rawUpstream()
    const proxy = await front({ base: upstream.url })
    const head = [...lines, 'Host: us', 'Connection: Upgrade, HTTP2-Settings, close']
    const client = dial(proxy.url, message(head, body))
    const wire = await upstream.next()
    expect(await wire.until(`\r\n\r\n${body}`)).not.toMatch(/upgrade|http2-settings/i)
    wire.socket.end(message(['HTTP/1.1 200 OK', 'Content-Length: 2'], 'ok'))
    expect(await client.all()).toMatch(/\r\n\r\nok$/)
  })
})
