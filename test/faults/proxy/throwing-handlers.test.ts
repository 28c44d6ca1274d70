import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import { dial, front, message, rawUpstream, type Wire } from '../../integration/proxy/stand-in.ts'

/** What a handler may do that throws, by the bytes at which it happens. */
const ANSWER = message(
  ['HTTP/1.1 200 OK', 'Transfer-Encoding: chunked'],
  '2\r\nhi\r\n0\r\nX-T: 1\r\n\r\n',
)
const PLACES: Readonly<Record<string, readonly [keyof ServerResponse, string]>> = {
  'an interim answer': ['writeInformation', message(['HTTP/1.1 103 Early']) + ANSWER],
  'the head': ['writeHead', ANSWER],
  'a part of the body': ['write', ANSWER],
  'the trailers': ['addTrailers', ANSWER],
  'the end': ['end', ANSWER],
}
const GET = message(['GET /api/ HTTP/1.1', 'Host: us', 'Connection: close'])

/** A message whose method throws, as often as it is called. */
function planted<T extends IncomingMessage | ServerResponse>(on: T, method: keyof T): void {
  Object.defineProperty(on, method, {
    value() {
      throw new Error('planted')
    },
  })
}

/** Sends one more request, which must be answered as if nothing had been. */
async function expectNextIsRight(url: URL, next: () => Promise<Wire>): Promise<void> {
  const client = dial(url, GET)
  const wire = await next()
  await wire.until('\r\n\r\n')
  wire.socket.end(ANSWER)
  expect(await client.all()).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n2\r\nhi\r\n0\r\nX-T: 1\r\n\r\n$/s)
}

it.each(Object.entries(PLACES))(
  'a throw at %s fails its exchange alone',
  async (_, [method, bytes]) => {
    const upstream = await rawUpstream()
    let isFirst = true
    const proxy = await front({
      base: upstream.url,
      seen(_, outgoing) {
        if (isFirst) planted(outgoing, method)
        isFirst = false
        return {}
      },
    })
    const client = dial(proxy.url, GET)
    const wire = await upstream.next()
    await wire.until('\r\n\r\n')
    wire.socket.end(bytes)
    await client.all()
    // A head that cannot be written is the upstream's fault, until its report cannot be written
    // either.
    const outcome = method === 'writeHead' ? 'broken' : 'failed'
    expect(await proxy.exchanges[0]).toMatchObject({ outcome })
    expect(proxy.bugs).toEqual(expect.arrayContaining([new Error('planted')]))
    await expectNextIsRight(proxy.url, upstream.next)
  },
)

it('a throw while the body is read fails its exchange alone', async () => {
  const upstream = await rawUpstream()
  let isFirst = true
  const proxy = await front({
    base: upstream.url,
    seen(incoming) {
      // The upstream does not read, so the client is asked to wait.
      if (isFirst) planted(incoming, 'pause')
      isFirst = false
      return {}
    },
  })
  const length = 64 * 1024 * 1024
  const client = dial(
    proxy.url,
    message(['POST /api/ HTTP/1.1', 'Host: us', `Content-Length: ${length}`]),
  )
  const wire = await upstream.next()
  wire.socket.pause()
  client.socket.write(Buffer.alloc(length))
  expect(await client.until('\r\n\r\n')).toMatch(
    /^HTTP\/1\.1 500 .*"type":"error"|^HTTP\/1\.1 500 /s,
  )
  expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'failed', status: 500 })
  await expectNextIsRight(proxy.url, upstream.next)
})

it('a throw in an upgrade ends both connections', async () => {
  const upstream = await rawUpstream()
  const proxy = await front({ base: upstream.url })
  proxy.server.prependListener('upgrade', (_, socket) => planted(socket as never, 'pipe' as never))
  const head = ['GET /api/ HTTP/1.1', 'Host: us', 'Upgrade: x', 'Connection: Upgrade']
  const client = dial(proxy.url, message(head))
  const wire = await upstream.next()
  await wire.until('\r\n\r\n')
  wire.socket.write(message(['HTTP/1.1 101 Sure', 'Upgrade: x', 'Connection: Upgrade']))
  await Promise.all([client.all(), wire.all()])
  expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'failed' })
})

it('a late promise whose settling throws fails its exchange alone', async () => {
  const upstream = await rawUpstream()
  const recorded = Promise.withResolvers<void>()
  const proxy = await front({
    base: upstream.url,
    options: { holdEnd: recorded.promise },
    seen: (_, outgoing) => {
      planted(outgoing, 'end')
      return {}
    },
  })
  const client = dial(proxy.url, GET)
  const wire = await upstream.next()
  await wire.until('\r\n\r\n')
  wire.socket.end(ANSWER)
  await client.until('hi')
  recorded.resolve()
  await client.all()
  expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'failed' })
})

it('any byte in a reason phrase passes, or gives the error', async () => {
  const upstream = await rawUpstream()
  const proxy = await front({ base: upstream.url })
  for (let byte = 0; byte < 256; byte++) {
    if (byte === 10 || byte === 13) continue
    const client = dial(proxy.url, GET)
    const wire = await upstream.next()
    await wire.until('\r\n\r\n')
    const reason = `O${String.fromCharCode(byte)}K`
    wire.socket.end(message([`HTTP/1.1 200 ${reason}`, 'Content-Length: 0']), 'latin1')
    const passes = byte === 9 || (byte >= 32 && byte !== 127)
    const first = passes ? `HTTP/1.1 200 ${reason}` : 'HTTP/1.1 502 Bad Gateway'
    expect((await client.all()).split('\r\n', 1)).toEqual([first])
  }
  expect(proxy.bugs).toEqual([])
})

it('interim answers are passed on up to a bound', async () => {
  const upstream = await rawUpstream()
  const proxy = await front({ base: upstream.url })
  const client = dial(proxy.url, GET)
  const wire = await upstream.next()
  await wire.until('\r\n\r\n')
  const interim = message(['HTTP/1.1 103 Early Hints', `X-A: ${'a'.repeat(1000)}`])
  wire.socket.end(interim.repeat(5_000) + ANSWER)
  const answers = (await client.all()).split('HTTP/1.1 ').slice(1)
  expect(answers.length).toBeGreaterThan(50)
  expect(answers.length).toBeLessThan(70)
  expect(answers.at(-1)).toMatch(/^200 OK\r\n.*hi/s)
})
