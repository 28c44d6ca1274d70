import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { dial, front, message, rawUpstream } from './stand-in.ts'

/**
 * Sends a request through to a raw upstream and its answer back: what each side got, to the byte.
 */
async function passed(
  request: string,
  answer: string,
  {
    end = '\r\n\r\n',
    base = '',
    ...options
  }: { end?: string; base?: string; whole?: boolean } = {},
) {
  const upstream = await rawUpstream()
  const proxy = await front({ base: new URL(base, upstream.url), ...options })
  const client = dial(proxy.url, request)
  const wire = await upstream.next()
  await wire.until(end)
  wire.socket.end(answer, 'latin1')
  const received = await client.all()
  const exchange = await (proxy.exchanges[0] as (typeof proxy.exchanges)[0])
  return { host: upstream.url.host, sent: wire.text, received, exchange }
}

const NO_CONTENT = message(['HTTP/1.1 204 No Content'])

describe('a request', () => {
  it('keeps spelling, order and duplicates of its headers, and its bytes', async () => {
    const lines = [
      'X-Api-Key: sk-ant-secret',
      'anthropic-beta: a-2025, b-2025',
      'ANTHROPIC-beta: c-2025',
      'Authorization: Bearer oauth',
      'accept-encoding: gzip, br, zstd',
      'x-bytes: caf\xe9 \xff',
      'Content-Length: 5',
    ]
    const { sent, host } = await passed(
      message(
        [
          'POST /api/v1/messages?beta=true&x=%2F%zz HTTP/1.1',
          'hOst: us',
          ...lines,
          'connection: close',
        ],
        '{"a\xe9',
      ),
      NO_CONTENT,
      { end: '{"a\xe9' },
    )
    expect(sent).toBe(
      message(
        [
          'POST /v1/messages?beta=true&x=%2F%zz HTTP/1.1',
          `hOst: ${host}`,
          ...lines,
          'Connection: keep-alive',
        ],
        '{"a\xe9',
      ),
    )
  })

  it('loses what is meant for this hop and for us, and nothing else', async () => {
    const { sent } = await passed(
      message([
        'GET /api/ HTTP/1.1',
        'Host: us',
        'X-Haversack-Key: hk',
        'x-haversack-bypass: 1',
        'X-Hop: a',
        'Keep-Alive: timeout=5',
        'Proxy-Connection: keep-alive',
        'Proxy-Authorization: Basic x',
        'Upgrade: h2c',
        'X-End: b',
        'Connection: close, X-Hop, Host, Upgrade',
      ]),
      NO_CONTENT,
    )
    expect(sent).toMatch(
      /^GET \/ HTTP\/1\.1\r\nHost: 127\S+\r\nX-End: b\r\nConnection: keep-alive\r\n\r\n$/,
    )
  })

  it('says that it takes trailers, but no other transfer coding', async () => {
    const head = [
      'GET /api/ HTTP/1.1',
      'Host: us',
      'TE: gzip;q=0.5, trailers',
      'Connection: close, TE',
    ]
    const { sent } = await passed(message(head), NO_CONTENT)
    expect(sent).toContain('\r\nTE: trailers\r\nConnection: TE\r\n\r\n')
    const gzip = await passed(
      message([...head.slice(0, 2), 'TE: gzip', 'Connection: TE, close']),
      NO_CONTENT,
    )
    expect(gzip.sent.toLowerCase()).not.toContain('te:')
  })

  it('passes chunked, with its trailers', async () => {
    const { sent } = await passed(
      message(
        [
          'PUT /api/x HTTP/1.1',
          'Host: us',
          'Transfer-Encoding: chunked',
          'Trailer: X-Sum',
          'Connection: close',
        ],
        '3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n',
      ),
      NO_CONTENT,
      { end: 'X-Sum: 1\r\n\r\n' },
    )
    expect(sent).toContain('\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n')
    expect(sent).toMatch(/\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n$/)
  })

  it.each(['sized', 'chunked'])(
    'that came %s and is sent whole has its own length',
    async framing => {
      const sized = ['Content-Length: 3', 'x-last: 1']
      const chunked = ['Transfer-Encoding: chunked', 'x-last: 1']
      const { sent, exchange } = await passed(
        message(
          [
            'POST /api/ HTTP/1.1',
            'Host: us',
            'Expect: 100-continue',
            ...(framing === 'sized' ? sized : chunked),
          ],
          framing === 'sized' ? 'abc' : '3\r\nabc\r\n0\r\n\r\n',
        ),
        message(['HTTP/1.1 200 OK', 'Connection: close', 'Content-Length: 0']),
        { end: 'abc', whole: true },
      )
      expect(sent.match(/content-length: \d+/gi)).toEqual(['Content-Length: 3'])
      expect(sent).not.toMatch(/transfer-encoding|expect/i)
      expect(sent.endsWith('\r\n\r\nabc')).toBe(true)
      expect(exchange.sent_bytes).toBe(3)
    },
  )

  it('without a body says so where its method may have one', async () => {
    const post = await passed(
      message(['POST /api/ HTTP/1.1', 'Host: us', 'Connection: close']),
      NO_CONTENT,
    )
    expect(post.sent).toContain('\r\nContent-Length: 0\r\n')
    const remove = await passed(
      message(['DELETE /api/ HTTP/1.1', 'Host: us', 'Connection: close']),
      NO_CONTENT,
    )
    expect(remove.sent).not.toMatch(/content-length|transfer-encoding/i)
  })

  it('goes behind the path of the upstream, as it was sent', async () => {
    const lines = ['GET /api/a/../b//%2e%2E/c;p?../ HTTP/1.1', 'Host: us', 'Connection: close']
    const root = await passed(message(lines), NO_CONTENT)
    expect(root.sent).toMatch(/^GET \/a\/\.\.\/b\/\/%2e%2E\/c;p\?\.\.\/ HTTP/)
    const below = await passed(
      message(['GET /api/a..b/?q=/../ HTTP/1.1', 'Host: us', 'Connection: close']),
      NO_CONTENT,
      { base: '/eu/' },
    )
    expect(below.sent).toMatch(/^GET \/eu\/a\.\.b\/\?q=\/\.\.\/ HTTP/)
  })

  it('of HTTP/1.0 is forwarded as one of HTTP/1.1, and its answer ends with the connection', async () => {
    const { sent, received } = await passed(
      message(['GET /api/ HTTP/1.0']),
      message(['HTTP/1.1 200 OK', 'Transfer-Encoding: chunked'], '2\r\nhi\r\n0\r\n\r\n'),
    )
    expect(sent).toMatch(/^GET \/ HTTP\/1\.1\r\nHost: 127\.0\.0\.1:\d+\r\n/)
    expect(received).toBe('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhi')
  })
})

describe('a request that is refused', () => {
  it.each([
    [
      'both lengths',
      ['POST /api/ HTTP/1.1', 'Host: a', 'Content-Length: 1', 'Transfer-Encoding: chunked'],
    ],
    ['two lengths', ['POST /api/ HTTP/1.1', 'Host: a', 'Content-Length: 1', 'Content-Length: 2']],
    ['a folded header', ['GET /api/ HTTP/1.1', 'Host: a', 'X-A: b', ' folded']],
    ['a bare line feed in a header', ['GET /api/ HTTP/1.1', 'Host: a', 'X-A: b\nX-B: c']],
    ['a bare carriage return', ['GET /api/ HTTP/1.1', 'Host: a', 'X-A: b\rX-B: c']],
    ['an absolute target', ['GET http://127.0.0.1/api/ HTTP/1.1', 'Host: a', 'Connection: close']],
    ['a target without a path', ['OPTIONS * HTTP/1.1', 'Host: a', 'Connection: close']],
    ['the way out of the base', ['GET /api/x/%2E%2e/ HTTP/1.1', 'Host: a', 'Connection: close']],
    ['the other way out', ['GET /api/..%5cy HTTP/1.1', 'Host: a', 'Connection: close']],
  ])('with %s', async (_, lines) => {
    const upstream = await rawUpstream()
    const proxy = await front({ base: new URL('/eu', upstream.url) })
    const client = dial(proxy.url, message(lines))
    expect(await client.all()).toMatch(/^HTTP\/1\.1 400 /)
    expect(upstream.connections).toEqual([])
  })
})

describe('an answer', () => {
  const get = message(['GET /api/ HTTP/1.1', 'Host: us', 'Connection: close'])

  it('keeps status, reason, spelling, order and duplicates', async () => {
    const lines = [
      'HTTP/1.1 299 So \xe9 Fine',
      'SET-Cookie: a=1',
      'date: yesterday',
      'set-cookie: b=2; Path=/',
      'Request-Id: req_1',
      'Content-Length: 3',
    ]
    const { received, exchange } = await passed(
      get,
      message([...lines, 'Keep-Alive: timeout=9'], 'a\xff\x00'),
    )
    expect(received).toBe(message([...lines, 'Connection: close'], 'a\xff\x00'))
    expect(exchange).toMatchObject({
      outcome: 'answered',
      status: 299,
      received_bytes: 3,
      error: null,
    })
  })

  it('has what is added behind its own headers', async () => {
    const upstream = await rawUpstream()
    const options = { extraHeaders: { 'x-haversack-added-ms': '0.4' } }
    const proxy = await front({ base: upstream.url, options })
    const client = dial(proxy.url, get)
    ;(await upstream.next()).socket.end(message(['HTTP/1.1 200 OK', 'Content-Length: 0']))
    expect(await client.all()).toBe(
      message([
        'HTTP/1.1 200 OK',
        'Content-Length: 0',
        'x-haversack-added-ms: 0.4',
        'Connection: close',
      ]),
    )
  })

  it('a compressed answer passes byte for byte', async () => {
    const body = gzipSync('{"type":"message"}'.repeat(50)).toString('latin1')
    const lines = ['HTTP/1.1 200 OK', 'Content-Encoding: gzip', `Content-Length: ${body.length}`]
    const { received } = await passed(get, message(lines, body))
    expect(received).toBe(message([...lines, 'Connection: close'], body))
  })

  it('is redirected by the client, not here', async () => {
    const lines = [
      'HTTP/1.1 307 Temporary Redirect',
      'Location: http://127.0.0.1:1/x',
      'Content-Length: 0',
    ]
    const { received } = await passed(get, message(lines))
    expect(received).toBe(message([...lines, 'Connection: close']))
  })

  it('trailers of an answer pass to the client', async () => {
    const { received } = await passed(
      get,
      message(
        ['HTTP/1.1 200 OK', 'Trailer: X-Sum', 'Transfer-Encoding: chunked'],
        '2\r\nhi\r\n0\r\nX-Sum: 1\r\nx-sum: 2\r\n\r\n',
      ),
    )
    expect(received).toContain('\r\nTrailer: X-Sum\r\n')
    expect(received).toMatch(/\r\n\r\n2\r\nhi\r\n0\r\nX-Sum: 1\r\nx-sum: 2\r\n\r\n$/)
  })

  it('to HEAD has its length and no body', async () => {
    const lines = ['HTTP/1.1 200 OK', 'Content-Length: 1234']
    const head = get.replace('GET', 'HEAD')
    const { received, exchange } = await passed(head, message(lines))
    expect(received).toBe(message([...lines, 'Connection: close']))
    expect(exchange.outcome).toBe('answered')
    const chunked = ['HTTP/1.1 200 OK', 'Trailer: x', 'Transfer-Encoding: chunked']
    expect((await passed(head, message(chunked))).exchange.outcome).toBe('answered')
  })

  it.each([
    ['204 No Content', ['ETag: "a"']],
    ['304 Not Modified', ['ETag: "a"', 'Content-Length: 10']],
  ])('of %s has no body', async (status, lines) => {
    const head = [`HTTP/1.1 ${status}`, ...lines]
    const { received, exchange } = await passed(get, message(head))
    expect(received).toBe(message([...head, 'Connection: close']))
    expect(exchange.outcome).toBe('answered')
  })

  it('that ends with the connection gets an end of its own', async () => {
    const { received } = await passed(get, message(['HTTP/1.1 200 OK', 'X-A: b'], 'all of it'))
    expect(received).toBe(
      message(
        ['HTTP/1.1 200 OK', 'X-A: b', 'Connection: close', 'Transfer-Encoding: chunked'],
        '9\r\nall of it\r\n0\r\n\r\n',
      ),
    )
  })

  it.each([
    ['before', 'Content-Length: 2'],
    ['behind', 'X-Nothing: 1'],
  ])('keeps the bytes of a file name %s its length', async (_, first) => {
    const name = 'Content-Disposition: attachment; filename="r\xc3\xa9sum\xc3\xa9 \xe4\xb8\xad.pdf"'
    const { received } = await passed(get, message(['HTTP/1.1 200 OK', first, name], 'ok'))
    expect(received).toContain(`\r\n${name}\r\n`)
  })

  it('comes behind its interim answers', async () => {
    const { received } = await passed(
      get,
      message(['HTTP/1.1 103 Early Hints', 'Link: </a>', 'link: </b>'], NO_CONTENT),
    )
    expect(received).toBe(
      message(
        ['HTTP/1.1 103 Early Hints', 'Link: </a>', 'link: </b>'],
        message(['HTTP/1.1 204 No Content', 'Connection: close']),
      ),
    )
  })
})
