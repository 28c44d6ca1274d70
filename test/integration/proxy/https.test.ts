import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:https'
import { connect, type Socket } from 'node:net'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { selfSigned } from './self-signed.ts'
import { dial, front, listen, message, rawUpstream } from './stand-in.ts'

const certificate = selfSigned()
const before = getCACertificates('default')
// What NODE_EXTRA_CA_CERTS does at the start of a process.
beforeAll(() => setDefaultCACertificates([...before, certificate.cert]))
afterAll(() => setDefaultCACertificates([...before]))

/** Echoes bodies; switches to an echo of bytes when asked. */
async function secureUpstream(keys = certificate): Promise<URL> {
  const server = createServer(keys, (incoming, response) => {
    response.setHeader('x-host', incoming.headers.host ?? '')
    incoming.pipe(response)
  })
  server.on('upgrade', (_, socket) => {
    socket.write(message(['HTTP/1.1 101 Sure', 'Upgrade: echo', 'Connection: Upgrade']))
    socket.pipe(socket)
  })
  return await listen(server, 'https')
}

/** A proxy that opens tunnels, or answers `refusal`. */
async function tunnelProxy(refusal = '') {
  const asked: string[] = []
  const server = createHttpServer()
  server.on('connect', ({ url = '', headers }, socket: Socket, head) => {
    asked.push(`${url} ${headers['proxy-authorization'] ?? ''}`)
    if (refusal !== '') {
      socket.end(refusal)
      return
    }
    const to = new URL(`http://${url}`)
    const upstream = connect(Number(to.port), to.hostname, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.write(head)
      upstream.pipe(socket).pipe(upstream)
    })
    for (const end of [socket, upstream]) end.on('error', () => end.destroy())
  })
  return { url: await listen(server), asked }
}

describe('an upstream with TLS', () => {
  it('is reached directly, over kept connections', async () => {
    const base = await secureUpstream()
    const proxy = await front({ base })
    for (const body of ['one', 'two']) {
      const answer = await fetch(new URL('/api/', proxy.url), { method: 'POST', body })
      expect(answer.headers.get('x-host')).toBe(base.host)
      expect(await answer.text()).toBe(body)
    }
  })

  it('with a certificate that nobody vouches for is not spoken to', async () => {
    const proxy = await front({ base: await secureUpstream(selfSigned()) })
    const answer = await fetch(new URL('/api/', proxy.url), { headers: { 'x-api-key': 'sk' } })
    expect(answer.status).toBe(502)
    expect(await proxy.exchanges[0]).toMatchObject({
      outcome: 'unreachable',
      error: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    })
  })

  it.each([
    ['before the handshake', ''],
    ['in the middle of it', '\x16\x03\x03\x00\x7a\x02\x00'],
  ])('that stalls %s is given up in time, and the next is not', async (_, bytes) => {
    const stalling = await rawUpstream()
    const base = new URL(stalling.url.href.replace('http:', 'https:'))
    const proxy = await front({ base, limits: { connect_ms: 500 } })
    const asked = fetch(new URL('/api/', proxy.url))
    const wire = await stalling.next()
    await wire.until('\x16')
    wire.socket.write(bytes, 'latin1')
    expect((await asked).status).toBe(504)
    expect(await proxy.exchanges[0]).toMatchObject({ error: 'upstream_connect_timeout' })
    // Nothing of it is left open.
    await wire.all()
    const next = await front({ base: await secureUpstream() })
    expect((await fetch(new URL('/api/', next.url))).status).toBe(200)
  })
})

describe('HTTPS_PROXY', () => {
  it('is asked for a tunnel, once for several requests, with its credentials', async () => {
    const [base, tunnel] = [await secureUpstream(), await tunnelProxy()]
    const through = new URL(tunnel.url)
    through.username = 'who'
    through.password = 'pass'
    const proxy = await front({ base, env: { HTTPS_PROXY: through.href } })
    for (const body of ['one', 'two']) {
      const answer = await fetch(new URL('/api/', proxy.url), { method: 'POST', body })
      expect(await answer.text()).toBe(body)
    }
    const basic = Buffer.from('who:pass').toString('base64')
    expect(tunnel.asked).toEqual([`${base.host} Basic ${basic}`])
  })

  it('is not asked for what NO_PROXY names', async () => {
    const [base, tunnel] = [await secureUpstream(), await tunnelProxy()]
    const env = { HTTPS_PROXY: tunnel.url.href, NO_PROXY: 'example.com, 127.0.0.1' }
    const proxy = await front({ base, env })
    expect((await fetch(new URL('/api/', proxy.url))).status).toBe(200)
    expect(tunnel.asked).toEqual([])
  })

  it('an upgrade passes through the proxy that HTTPS_PROXY names', async () => {
    const [base, tunnel] = [await secureUpstream(), await tunnelProxy()]
    const proxy = await front({ base, env: { https_proxy: tunnel.url.href } })
    const head = ['GET /api/ HTTP/1.1', 'Host: us', 'Upgrade: echo', 'Connection: Upgrade']
    const client = dial(proxy.url, message(head))
    await client.until('101 Sure')
    client.socket.write('marco')
    await client.until('marco')
    expect(tunnel.asked.length).toBe(1)
  })

  it('that refuses gives the vendor’s error', async () => {
    const [base, tunnel] = [await secureUpstream(), await tunnelProxy('HTTP/1.1 407 No\r\n\r\n')]
    const proxy = await front({ base, env: { HTTPS_PROXY: tunnel.url.href } })
    expect((await fetch(new URL('/api/', proxy.url))).status).toBe(502)
    expect(await proxy.exchanges[0]).toMatchObject({
      outcome: 'unreachable',
      error: 'ERR_PROXY_TUNNEL',
    })
  })

  it('that does not answer is given up in time', async () => {
    const silent = await rawUpstream()
    const env = { HTTPS_PROXY: silent.url.href }
    const proxy = await front({ base: await secureUpstream(), env, limits: { connect_ms: 20 } })
    expect((await fetch(new URL('/api/', proxy.url))).status).toBe(504)
    expect(await proxy.exchanges[0]).toMatchObject({ error: 'upstream_connect_timeout' })
    await (await silent.next()).all()
  })

  it.each([
    ['directly', false],
    ['through a tunnel', true],
  ])('or not, a connection that stands %s has no limit to stand', async (_, tunnelled) => {
    const [base, tunnel] = [await secureUpstream(), await tunnelProxy()]
    const env = tunnelled ? { HTTPS_PROXY: tunnel.url.href } : {}
    const proxy = await front({ base, env, limits: { idle_ms: 50 } })
    const head = ['POST /api/ HTTP/1.1', 'Host: us', 'Content-Length: 4', 'Connection: close']
    await dial(proxy.url, message(head, 'bo')).all()
    expect(await proxy.exchanges[0]).toMatchObject({
      error: expect.not.stringContaining('connect'),
    })
  })
})
