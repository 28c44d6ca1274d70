import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../src/lab/bill/statistics.ts'
import { dial, front, httpUpstream, message, rawUpstream } from './stand-in.ts'

const GET = message(['GET /api/ HTTP/1.1', 'Host: us', 'Connection: close'])
const EVENTS = message([
  'HTTP/1.1 200 OK',
  'Content-Type: text/event-stream',
  'Transfer-Encoding: chunked',
])

/** More than the system's buffers of two connections hold. */
const LARGE_BYTES = 16 * 1024 * 1024

function noise(bytes: number): Buffer {
  const random = createRandom(7)
  const block = Buffer.from(Array.from({ length: 65_537 }, () => random(256)))
  return Buffer.alloc(bytes, block)
}

function digest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

describe('a stream', () => {
  it('arrives part by part, the head before the first', async () => {
    const upstream = await rawUpstream()
    const proxy = await front({ base: upstream.url })
    const client = dial(proxy.url, GET)
    const wire = await upstream.next()
    await wire.until('\r\n\r\n')
    wire.socket.write(EVENTS)
    expect(await client.until('\r\n\r\n')).toMatch(/chunked\r\n\r\n$/)
    for (const event of ['data: 1\n\n', 'data: 2\n\n', ':  ping\n\n']) {
      wire.socket.write(`9\r\n${event}\r\n`)
      await client.until(event)
    }
    wire.socket.write('0\r\n\r\n')
    expect(await client.all()).toMatch(/\r\n0\r\n\r\n$/)
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'answered', received_bytes: 27 })
  })

  it('of the request arrives part by part, and may be answered meanwhile', async () => {
    const upstream = await rawUpstream()
    const proxy = await front({ base: upstream.url })
    const head = message([
      'POST /api/ HTTP/1.1',
      'Host: us',
      'Transfer-Encoding: chunked',
      'X-A: \xe9',
      'Connection: close',
    ])
    const client = dial(proxy.url, head)
    const wire = await upstream.next()
    await wire.until('\r\n\r\n')
    expect(wire.text).toContain('\r\nX-A: \xe9\r\n')
    client.socket.write('3\r\none\r\n')
    await wire.until('one')
    wire.socket.write(`${EVENTS}5\r\nfirst\r\n`)
    await client.until('first')
    client.socket.write('3\r\ntwo\r\n0\r\n\r\n')
    await wire.until('two\r\n0\r\n\r\n')
    wire.socket.write('0\r\n\r\n')
    await client.all()
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'answered', sent_bytes: 6 })
  })

  it('is watched, and not harmed where watching fails', async () => {
    const seen: string[] = []
    const onAnswer = {
      head: (status: number, headers: readonly string[]) =>
        seen.push(`${status} ${headers.join()}`),
      chunk: (bytes: Uint8Array) => {
        seen.push(Buffer.from(bytes).toString())
        throw new Error('of the observer')
      },
    }
    const upstream = await rawUpstream()
    const proxy = await front({ base: upstream.url, options: { onAnswer } })
    const client = dial(proxy.url, GET)
    const wire = await upstream.next()
    await wire.until('\r\n\r\n')
    wire.socket.write(message(['HTTP/1.1 201 Made', 'Content-Length: 6'], 'abc'))
    await client.until('abc')
    wire.socket.write('def')
    expect(await client.all()).toMatch(/\r\n\r\nabcdef$/)
    expect(seen).toEqual(['201 Content-Length,6', 'abc'])
  })
})

describe('a large body', () => {
  it('waits in the upstream while the client does not read', async () => {
    const body = noise(LARGE_BYTES)
    let [peak, whileFull, full] = [0, 0, false]
    const stalled = Promise.withResolvers<void>()
    const watch = (_: IncomingMessage, outgoing: ServerResponse) => {
      outgoing.on('drain', () => {
        full = false
      })
      const chunk = () => {
        if (full) whileFull++
        full = outgoing.writableNeedDrain
        peak = Math.max(peak, outgoing.writableLength)
        if (full) stalled.resolve()
      }
      return { onAnswer: { chunk } }
    }
    const base = await httpUpstream((_, response) => response.end(body))
    const proxy = await front({ base, seen: watch })
    const incoming = await answerTo(new URL('/api/', proxy.url))
    await stalled.promise
    const hash = createHash('sha256')
    for await (const chunk of incoming) {
      hash.update(chunk)
      await new Promise(resolve => setImmediate(resolve))
    }
    expect(hash.digest('hex')).toBe(digest(body))
    expect(whileFull).toBe(0)
    expect(peak).toBeLessThan(1024 * 1024)
  })

  it('waits in the client while the upstream does not read', async () => {
    const body = noise(LARGE_BYTES)
    const arrived = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    let got = ''
    const base = await httpUpstream(async (incoming, response) => {
      arrived.resolve()
      await release.promise
      const hash = createHash('sha256')
      for await (const chunk of incoming) hash.update(chunk)
      got = hash.digest('hex')
      response.end()
    })
    let [forwarded, whilePaused] = [0, 0]
    const paused = Promise.withResolvers<void>()
    const watch = (incoming: IncomingMessage) => {
      incoming.on('data', (chunk: Buffer) => {
        if (incoming.isPaused()) whilePaused++
        forwarded += chunk.length
      })
      incoming.on('pause', () => paused.resolve())
      return {}
    }
    const proxy = await front({ base, seen: watch })
    const upload = request(new URL('/api/', proxy.url), { method: 'POST' })
    upload.end(body)
    await Promise.all([arrived.promise, paused.promise])
    expect(forwarded).toBeLessThan(LARGE_BYTES)
    release.resolve()
    const [answer] = (await once(upload, 'response')) as [IncomingMessage]
    answer.resume()
    expect(got).toBe(digest(body))
    expect(whilePaused).toBe(0)
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'answered', sent_bytes: LARGE_BYTES })
  })

  it('that is sent whole arrives whole', async () => {
    const body = noise(3_000_000)
    const base = await httpUpstream((incoming, response) => void incoming.pipe(response))
    const proxy = await front({ base, whole: true })
    const answer = await fetch(new URL('/api/', proxy.url), { method: 'POST', body })
    expect(digest(new Uint8Array(await answer.arrayBuffer()))).toBe(digest(body))
  })

  it('may be refused before it was sent, and the connection is used again', async () => {
    const paused = Promise.withResolvers<void>()
    const seen = (incoming: IncomingMessage) => {
      incoming.on('pause', () => paused.resolve())
      return {}
    }
    const upstream = await rawUpstream()
    const proxy = await front({ base: upstream.url, seen })
    const head = ['POST /api/ HTTP/1.1', 'Host: us', `Content-Length: ${LARGE_BYTES}`]
    const client = dial(proxy.url, message(head))
    const wire = await upstream.next()
    await wire.until('\r\n\r\n')
    wire.socket.pause()
    client.socket.write(Buffer.alloc(LARGE_BYTES))
    await paused.promise
    wire.socket.write(message(['HTTP/1.1 413 Too Large', 'Content-Length: 2'], 'no'))
    await client.until('\r\n\r\nno')
    client.socket.write(message(['GET /api/2 HTTP/1.1', 'Host: us', 'Connection: close']))
    const second = await upstream.next()
    await second.until('GET /2 HTTP/1.1')
    second.socket.end(message(['HTTP/1.1 204 No Content']))
    expect(await client.all()).toContain('204 No Content')
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'answered', status: 413 })
  })
})

describe('a client that goes away', () => {
  const POST = message(['POST /api/ HTTP/1.1', 'Host: us', 'Content-Length: 9'], 'begun')

  it.each([
    ['before the answer', GET, ''],
    ['while it sends', POST, ''],
    ['in the middle of the answer', GET, `${EVENTS}5\r\ndata:\r\n`],
  ])('%s ends the request at the upstream', async (_, bytes, answer) => {
    const upstream = await rawUpstream()
    const proxy = await front({ base: upstream.url })
    const client = dial(proxy.url, bytes)
    const wire = await upstream.next()
    await wire.until(bytes === POST ? 'begun' : '\r\n\r\n')
    if (answer !== '') {
      wire.socket.write(answer)
      await client.until('data:')
    }
    client.socket.destroy()
    await wire.all()
    expect(await (proxy.exchanges[0] as Promise<unknown>)).toMatchObject({ outcome: 'aborted' })
  })
})

async function answerTo(url: URL): Promise<IncomingMessage> {
  const outgoing = request(url)
  outgoing.end()
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  return answer
}
