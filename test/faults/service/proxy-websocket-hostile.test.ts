import { once } from 'node:events'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { OPCODES, writeClose, writeFrame } from '../../../src/proxy/websocket/frames.ts'
import { dial, message, rawUpstream, type Wire } from '../../integration/proxy/stand-in.ts'
import { startSmallService } from '../../integration/service/harness.ts'
import {
  openClient,
  type ResponsesUpstream,
  responsesUpstream,
} from '../../integration/service/responses-upstream.ts'
import { eventually } from '../../support/eventually.ts'
import { runs } from '../../support/runs.ts'

/** What misbehaving clients and upstreams do to a conversation over a WebSocket: they end it. */
type TestService = Awaited<ReturnType<typeof startSmallService>>

let upstream: ResponsesUpstream
let service: TestService

beforeAll(async () => {
  upstream = await responsesUpstream()
  service = await startSmallService({ workers: { count: 1 }, proxy: { openai_url: upstream.url } })
})

afterAll(async () => {
  await service.close()
  await upstream.close()
})

const PATH = '/openai/v1/responses'
const HANDSHAKE = message([
  `GET ${PATH} HTTP/1.1`,
  'Host: localhost',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
])
const SWITCHED = [
  'HTTP/1.1 101 Switching Protocols',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
]

/** The service still works for others. */
async function expectGood(): Promise<void> {
  const client = await openClient(service.url + PATH)
  client.send('{"type":"response.create","input":"x"}')
  expect(await client.until(3)).toHaveLength(3)
  client.socket.close()
  await client.closed
}

/** The status and the body with which a handshake is answered. */
async function refusal(url = service.url) {
  const headers = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-key': 'k' }
  const asked = request(url + PATH, { headers })
  asked.end()
  const [response] = await once(asked, 'response')
  return { status: response.statusCode, headers: response.headers, body: await text(response) }
}

describe('an upstream that refuses the handshake', () => {
  it.each([401, 404, 426, 500, 503])('with %d is passed on with its body', async status => {
    const body = `{"error":{"code":"c${status}"}}`
    const head = [
      `HTTP/1.1 ${status} Whatever`,
      'X-Reason: theirs',
      'WWW-Authenticate: Bearer',
      `Content-Length: ${body.length}`,
    ]
    upstream.shakeWith(message(head, body))
    const got = await refusal()
    expect(got).toMatchObject({ status, body })
    expect(got.headers).toMatchObject({ 'x-reason': 'theirs', 'www-authenticate': 'Bearer' })
    upstream.shakeWith(null)
    await expectGood()
  })

  it.each<[string, string]>([
    ['garbage', 'no HTTP at all\r\n\r\n'],
    ['nothing', ''],
    ['half a head', 'HTTP/1.1 101 Switching'],
    ['another protocol', message([SWITCHED[0]!, 'Upgrade: echo', 'Connection: Upgrade'])],
    ['extensions', message([...SWITCHED, 'Sec-WebSocket-Extensions: permessage-deflate'])],
  ])('by %s is a 502', async (_, bytes) => {
    upstream.shakeWith(bytes)
    const { status, body } = await refusal()
    expect(status).toBe(502)
    expect(JSON.parse(body).error.code).toMatch(/^upstream_(?:broken|malformed)$/)
    upstream.shakeWith(null)
    await expectGood()
  })

  it('by not being there is a 502', async () => {
    const dead = await startSmallService({
      workers: { count: 1 },
      proxy: { openai_url: 'http://127.0.0.1:1' },
    })
    onTestFinished(() => dead.close())
    const { status, body } = await refusal(dead.url)
    expect([status, JSON.parse(body).error.code]).toEqual([502, 'upstream_unreachable'])
  })
})

/** A client on the wire, connected to a new socket of the upstream. */
async function wired(): Promise<Wire> {
  const client = dial(new URL(service.url), HANDSHAKE)
  await client.until('\r\n\r\n')
  return client
}

/** What came after the answer to the handshake, as hexadecimal digits. */
async function endOf(client: Wire): Promise<string> {
  const all = await client.all()
  return Buffer.from(all.slice(all.indexOf('\r\n\r\n') + 4), 'latin1').toString('hex')
}

const hexOf = (frame: Buffer) => frame.toString('hex')
const masked = (opcode: number, payload: Uint8Array, isLast = true) =>
  writeFrame(opcode, payload, { isMasked: true, isLast })

describe('a client', () => {
  const CLOSED = hexOf(writeClose(1002, 'not a frame of a client', false))

  it.each<[string, Buffer]>([
    ['a frame without a mask', writeFrame(OPCODES.text, Buffer.from('{}'))],
    ['a reserved bit', Buffer.of(0xc1, 0x80, 0, 0, 0, 0)],
    ['a reserved kind', Buffer.of(0x83, 0x80, 0, 0, 0, 0)],
    ['a ping of 126 bytes', Buffer.of(0x89, 0xfe, 0, 126, 0, 0, 0, 0)],
    ['a ping in fragments', Buffer.of(0x09, 0x80, 0, 0, 0, 0)],
    ['the end of no message', masked(OPCODES.continuation, Buffer.from('x'))],
    ['HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['zeros', Buffer.alloc(100)],
    ['0xff', Buffer.alloc(100, 0xff)],
  ])('that sends %s is closed with 1002, and so is its upstream', async (_, bytes) => {
    const client = await wired()
    const { socket } = upstream.sockets.at(-1)!
    const closed = once(socket, 'close')
    client.socket.write(bytes)
    expect(await endOf(client)).toBe(CLOSED)
    expect((await closed)[0]).toBe(1001)
    await expectGood()
  })

  it.each<[string, Uint8Array]>([
    ['an end in a head', Buffer.of(0x81)],
    [
      'an end in a message',
      masked(OPCODES.text, Buffer.from('{"type":"response.create"')).subarray(0, 20),
    ],
    [
      'an end in a fragmented one',
      masked(OPCODES.text, Buffer.from('{"type":"response.cre'), false),
    ],
    ['an end in a ping', masked(OPCODES.ping, Buffer.alloc(100)).subarray(0, 50)],
  ])('that leaves with %s ends its upstream', async (_, bytes) => {
    for (const leave of ['destroy', 'end', 'resetAndDestroy'] as const) {
      const client = await wired()
      const { socket } = upstream.sockets.at(-1)!
      const closed = once(socket, 'close')
      client.socket.write(bytes, () => client.socket[leave]())
      expect((await closed)[0]).toBe(1006)
      await client.all()
    }
    await expectGood()
  })

  it('that sends no UTF-8 is closed by the upstream', async () => {
    const client = await openClient(service.url + PATH)
    const bad = Buffer.concat([
      Buffer.from('{"type":"response.create","input":"'),
      Buffer.of(0xff, 0xfe),
    ])
    client.socket.send(bad, { binary: false })
    expect((await client.closed)[0]).toBe(1007)
    await expectGood()
  })

  it('may send a message in very many fragments', async () => {
    const client = await wired()
    const { came } = upstream.sockets.at(-1)!
    const sent = '{"type":"response.create","input":"fragments"}'
    const parts = Array.from(sent, (c, n) =>
      Buffer.concat([
        masked(n === 0 ? OPCODES.text : OPCODES.continuation, Buffer.from(c), false),
        masked(OPCODES.continuation, Buffer.alloc(0), false),
      ]),
    )
    client.socket.write(Buffer.concat([...parts, masked(OPCODES.continuation, Buffer.alloc(0))]))
    await eventually(() => expect(came).toHaveLength(1))
    expect(came[0]!.bytes.toString()).toBe(sent)
  })
})

/** Frames of a side, some of them spoiled, as any bytes in any pieces. */
const noise = (isMasked: boolean) =>
  fc.array(
    fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map(bytes => Buffer.from(bytes)),
      fc
        .record({
          opcode: fc.integer({ min: 0, max: 15 }),
          bytes: fc.oneof(
            fc.uint8Array({ maxLength: 300 }),
            fc
              .constantFrom(
                '{"type":"response.create"',
                '{"type":"response.completed"}',
                '{"input":[]}',
              )
              .map(json => Buffer.from(json)),
          ),
          isLast: fc.boolean(),
          cut: fc.integer({ min: 0, max: 400 }),
        })
        .map(({ opcode, bytes, isLast, cut }) => {
          const frame = writeFrame(opcode, bytes, { isMasked, isLast })
          return cut < 40 ? frame.subarray(0, cut) : frame
        }),
    ),
    { minLength: 1, maxLength: 8 },
  )

describe('noise', () => {
  it('of either side ends its connection at most', async () => {
    const raw = await rawUpstream()
    const other = await startSmallService({
      workers: { count: 1 },
      proxy: { openai_url: raw.url.href },
    })
    onTestFinished(() => other.close())
    await fc.assert(
      fc.asyncProperty(noise(true), noise(false), async (said, answered) => {
        const client = dial(new URL(other.url), HANDSHAKE)
        const wire = await raw.next()
        await wire.until('\r\n\r\n')
        wire.socket.write(message(SWITCHED))
        await client.until('\r\n\r\n')
        for (let n = 0; n < Math.max(said.length, answered.length); n++) {
          const [one, two] = [said[n], answered[n]]
          if (one !== undefined && client.socket.writable) client.socket.write(one)
          if (two !== undefined && wire.socket.writable) wire.socket.write(two)
          await new Promise(setImmediate)
        }
        client.socket.end()
        wire.socket.end()
        await Promise.all([client.all(), wire.all()])
      }),
      { numRuns: runs(200) },
    )
    expect((await fetch(`${other.url}/readyz`)).status).toBe(200)
    const { text: bugs } = await fetch(`${other.url}/metrics`).then(async r => ({
      text: await r.text(),
    }))
    expect(bugs).not.toMatch(/haversack_proxy_exchanges_total\{[^}]*outcome="failed"/)
  })
})

describe('an upstream', () => {
  /** A service before an upstream of bytes, with a client. */
  async function joined() {
    const raw = await rawUpstream()
    const other = await startSmallService({
      workers: { count: 1 },
      proxy: { openai_url: raw.url.href },
    })
    onTestFinished(() => other.close())
    const client = dial(new URL(other.url), HANDSHAKE)
    const wire = await raw.next()
    await wire.until('\r\n\r\n')
    return { client, wire }
  }

  const CLOSED = hexOf(writeClose(1011, 'the upstream broke the protocol', false))
  const event = writeFrame(OPCODES.text, Buffer.from('{"type":"response.created"}'))

  it.each<[string, Buffer]>([
    ['a masked frame', masked(OPCODES.text, Buffer.from('{}'))],
    ['a reserved bit', Buffer.of(0xc1, 0x00)],
    ['a ping of 126 bytes', Buffer.of(0x89, 0x7e, 0, 126)],
    ['a message within a message', Buffer.of(0x01, 0x00, 0x81, 0x00)],
    ['0xff', Buffer.alloc(100, 0xff)],
  ])('that sends %s is left, and its client closed with 1011', async (_, bytes) => {
    for (const isEarly of [true, false]) {
      const { client, wire } = await joined()
      const sent = Buffer.concat([event, bytes])
      if (isEarly) wire.socket.write(Buffer.concat([Buffer.from(message(SWITCHED)), sent]))
      else {
        wire.socket.write(message(SWITCHED))
        await client.until('\r\n\r\n')
        wire.socket.write(sent)
      }
      const end = await endOf(client)
      expect(end.startsWith(hexOf(event))).toBe(true)
      expect(end.endsWith(CLOSED)).toBe(true)
      await wire.all()
    }
  })

  it.each<[string, Uint8Array]>([
    ['at once', Buffer.alloc(0)],
    ['in a head', event.subarray(0, 1)],
    ['in a message', event.subarray(0, 9)],
  ])('that breaks off %s takes its client with it, after what it sent', async (_, bytes) => {
    for (const leave of ['destroy', 'end', 'resetAndDestroy'] as const) {
      const { client, wire } = await joined()
      wire.socket.write(message(SWITCHED))
      await client.until('\r\n\r\n')
      wire.socket.write(bytes)
      if (bytes.length > 0) await client.until(Buffer.from(bytes).toString('latin1'))
      wire.socket[leave]()
      expect(await endOf(client)).toBe(hexOf(Buffer.from(bytes)))
    }
  })

  it('that is cut byte by byte passes', async () => {
    const { client, wire } = await joined()
    wire.socket.setNoDelay(true)
    const bytes = Buffer.concat([Buffer.from(message(SWITCHED)), event, event])
    for (const byte of bytes) {
      wire.socket.write(Buffer.of(byte))
      await new Promise(setImmediate)
    }
    wire.socket.end()
    expect(await endOf(client)).toBe(hexOf(Buffer.concat([event, event])))
  })
})
