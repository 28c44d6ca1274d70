import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import {
  dial,
  type Front,
  front,
  message,
  type RawUpstream,
  rawUpstream,
  type Wire,
} from '../../integration/proxy/stand-in.ts'

const POST = message(['POST /api/ HTTP/1.1', 'Host: us', 'Content-Length: 4'], 'body')
const CHUNKED = message([
  'HTTP/1.1 200 OK',
  'Content-Type: text/event-stream',
  'Transfer-Encoding: chunked',
])
const EVENT = '9\r\ndata: 1\n\n\r\n'
const END = '0\r\n\r\n'
const SIZED = message(['HTTP/1.1 200 OK', 'Content-Length: 8'])

interface Held {
  readonly client: Wire
  readonly wire: Wire
  readonly proxy: Front
  readonly upstream: RawUpstream
  readonly record: PromiseWithResolvers<unknown>
}

/** An answer of which all has come, and whose end waits for a record. */
async function held(
  answer: string,
  limits: Parameters<typeof front>[0]['limits'] = {},
): Promise<Held> {
  const record = Promise.withResolvers<unknown>()
  const upstream = await rawUpstream()
  const options = { holdEnd: record.promise }
  const proxy = await front({ base: upstream.url, whole: true, limits, options })
  const client = dial(proxy.url, POST)
  const wire = await upstream.next()
  await wire.until('body')
  wire.socket.write(answer)
  return { client, wire, proxy, upstream, record }
}

describe('an answer whose end is held', () => {
  it.each([
    ['its length is told', `${SIZED}complete`, 'complet', 'e'],
    ['it comes in parts', CHUNKED + EVENT + END, EVENT, END],
  ])('is whole only after the record: %s', async (_, answer, before, rest) => {
    const { client, wire, proxy, record } = await held(answer)
    await client.until(before)
    // The upstream's connection is free when all was read of it, and nothing more has left for the
    // client.
    dial(proxy.url, POST)
    await wire.until('bodyPOST')
    expect(client.text.endsWith(before)).toBe(true)
    record.resolve(true)
    await client.until(before + rest)
    expect(client.text.endsWith(before + rest)).toBe(true)
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'answered', status: 200 })
  })

  it('is whole only after the record where its last part is one byte', async () => {
    const { client, wire, proxy, record } = await held(`${SIZED}complet`)
    await client.until('complet')
    wire.socket.write('e')
    dial(proxy.url, POST)
    await wire.until('bodyPOST')
    expect(client.text.endsWith('complet')).toBe(true)
    record.resolve(true)
    await client.until('complete')
  })

  it('is whole too where the record fails', async () => {
    const { client, proxy, record } = await held(CHUNKED + EVENT + END)
    await client.until(EVENT)
    record.reject(new Error('no disk'))
    await client.until(EVENT + END)
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'answered' })
  })

  it.each([
    ['between bytes', { idle_ms: 100 }],
    ['for all', { total_ms: 500 }],
  ])('is whole when the time limit %s passes before the record', async (_, limits) => {
    for (const [answer, end] of [
      [CHUNKED + EVENT + END, EVENT + END],
      [`${SIZED}complete`, 'complete'],
    ] as const) {
      const { client, proxy } = await held(answer, limits)
      await client.until(end)
      expect(client.text).not.toContain('error')
      expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'answered', error: null })
    }
  })

  it('is whole when the forwarder closes', async () => {
    const { client, proxy } = await held(CHUNKED + EVENT + END)
    await client.until(EVENT)
    await proxy.forwarder.close()
    expect((await client.all()).endsWith(EVENT + END)).toBe(true)
  })

  it('is over when its client leaves, and leaves the upstream’s connection to others', async () => {
    const { client, wire, proxy, upstream, record } = await held(CHUNKED + EVENT + END)
    await client.until(EVENT)
    client.socket.destroy()
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'aborted' })
    record.resolve(true)
    const next = dial(proxy.url, POST)
    await wire.until('bodyPOST')
    wire.socket.write(`${SIZED}complete`)
    await next.until('complete')
    expect(upstream.connections.length).toBe(1)
  })

  it('keeps the next request of its connection waiting', async () => {
    const { client, wire, record } = await held(CHUNKED + EVENT + END)
    await client.until(EVENT)
    client.socket.write(POST)
    record.resolve(true)
    while (!wire.text.includes('bodyPOST')) await once(wire.socket, 'data')
    wire.socket.write(`${SIZED}complete`)
    expect(await client.until('complete')).toContain(EVENT + END + SIZED.slice(0, 12))
  })
})
