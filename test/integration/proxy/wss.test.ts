import { createHash } from 'node:crypto'
import { createServer } from 'node:https'
import type { Duplex } from 'node:stream'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { selfSigned } from './self-signed.ts'
import { listen, message } from './stand-in.ts'
import { figure, serviceBefore } from './watched-service.ts'

const certificate = selfSigned()
const before = getCACertificates('default')
// What NODE_EXTRA_CA_CERTS does at the start of a process.
beforeAll(() => setDefaultCACertificates([...before, certificate.cert]))
afterAll(() => setDefaultCACertificates([...before]))

/** RFC 6455 §4.2.2. */
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const CLOSE = 0x88

/**
 * Sends the frames of a client back unmasked, each once it is complete: texts below 64 KiB, and the
 * close.
 */
function echoFrames(socket: Duplex): void {
  let got = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    got = Buffer.concat([got, chunk])
    for (;;) {
      if (got.length < 4) return
      const short = got[1]! & 0x7f
      const at = short === 126 ? 4 : 2
      const length = short === 126 ? got.readUInt16BE(2) : short
      const end = at + 4 + length
      if (got.length < end) return
      const mask = got.subarray(at, at + 4)
      const payload = got.subarray(at + 4, end).map((byte, n) => byte ^ mask[n % 4]!)
      const sizes = short === 126 ? [126, length >> 8, length & 0xff] : [length]
      socket.write(Buffer.concat([Buffer.of(got[0]!, ...sizes), payload]))
      if (got[0] === CLOSE) socket.end()
      got = got.subarray(end)
    }
  })
}

/** A vendor's realtime API over TLS. */
async function realtime(keys = certificate) {
  const asked: string[] = []
  const server = createServer(keys)
  server.on('upgrade', ({ url, headers }, socket) => {
    asked.push(`${url} ${headers.host} ${headers['sec-websocket-protocol'] ?? ''}`)
    socket.on('error', () => socket.destroy())
    const accept = createHash('sha1')
      .update(`${headers['sec-websocket-key']}${GUID}`)
      .digest('base64')
    const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade']
    const chosen = ['Sec-WebSocket-Protocol: realtime', `Sec-WebSocket-Accept: ${accept}`]
    socket.write(message([...head, ...chosen]))
    echoFrames(socket)
  })
  return { url: await listen(server, 'https'), asked }
}

async function opened(url: URL, path = '/v1/realtime?model=x') {
  const service = await serviceBefore(url)
  const target = `${service.url.replace('http', 'ws')}/openai${path}`
  const socket = new WebSocket(target, ['realtime', 'openai-beta.realtime-v1'])
  onTestFinished(() => socket.close())
  const over = new Promise<CloseEvent>(resolve => socket.addEventListener('close', resolve))
  return { service, socket, over }
}

describe('a WebSocket to an upstream with TLS', () => {
  // The frames of the second are read.
  it.each(['/v1/realtime?model=x', '/v1/responses?model=x'])(
    'carries messages both ways, and the close: %s',
    async path => {
      const upstream = await realtime()
      const { service, socket, over } = await opened(upstream.url, path)
      const got: unknown[] = []
      const texts = ['{"type":"session.update"}', 'früh 🕒', 'x'.repeat(60_000)]
      socket.addEventListener('message', ({ data }) => {
        got.push(data)
        if (got.length === texts.length) socket.close(1000, 'done')
      })
      socket.addEventListener('open', () => {
        for (const text of texts) socket.send(text)
      })
      const { code, reason, wasClean } = await over
      expect({ code, reason, wasClean }).toEqual({ code: 1000, reason: 'done', wasClean: true })
      expect(got).toEqual(texts)
      expect(socket.protocol).toBe('realtime')
      const { host } = upstream.url
      expect(upstream.asked).toEqual([`${path} ${host} realtime, openai-beta.realtime-v1`])
      const answered = 'haversack_proxy_exchanges_total{vendor="openai",outcome="answered"}'
      await expect.poll(() => figure(service, answered)).toBe(1)
    },
  )

  it('is not opened where nobody vouches for the certificate', async () => {
    const upstream = await realtime(selfSigned())
    const { service, over } = await opened(upstream.url)
    expect((await over).wasClean).toBe(false)
    expect(upstream.asked).toEqual([])
    const unreachable = 'haversack_proxy_exchanges_total{vendor="openai",outcome="unreachable"}'
    expect(await figure(service, unreachable)).toBe(1)
  })
})
