import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { WebSocket } from 'ws'
import { FIXED_LIMITS } from '../../../src/config/fixed-limits.ts'
import { json, startSmallService } from '../../integration/service/harness.ts'
import { CONVERSATIONS } from '../../integration/service/proxy-conversations.ts'
import {
  type Came,
  type Client,
  openClient,
  type ResponsesUpstream,
  responsesUpstream,
} from '../../integration/service/responses-upstream.ts'
import { eventually } from '../../support/eventually.ts'
import { keyFor, writeKeysFile } from '../../support/keys.ts'

/** Keys, bills, time limits, back-pressure and the end of conversations over a WebSocket. */
const PATH = '/openai/v1/responses'
const CREATE = '{"type":"response.create","model":"gpt-5","input":"x"}'
const { body: bodyOf } = CONVERSATIONS['responses']!

let upstream: ResponsesUpstream
const folder = mkdtempSync(join(tmpdir(), 'haversack-websocket-'))

beforeAll(async () => {
  upstream = await responsesUpstream()
})

afterAll(async () => {
  await upstream.close()
  rmSync(folder, { recursive: true })
})

async function start(settings: Record<string, unknown> = {}, times: object = {}) {
  const service = await startSmallService(
    { workers: { count: 1 }, ...settings, proxy: { openai_url: upstream.url } },
    { limits: { forward: { ...FIXED_LIMITS.forward, ...times } } },
  )
  onTestFinished(() => service.close())
  return service
}

const atUpstream = () => upstream.sockets.at(-1)!
const parsed = ({ bytes }: Came) => JSON.parse(bytes.toString())
const lastOf = async (client: Client, count: number) => parsed((await client.until(count)).at(-1)!)

describe('keys', () => {
  const one = keyFor('one', { scopes: ['proxy'], rate_per_s: 0.001, burst: 3 })
  const other = keyFor('other', { scopes: ['proxy'] })
  const barred = keyFor('barred', { scopes: ['encode'] })
  const withKey = (key: string) => ({ headers: { 'x-haversack-key': key } })

  async function guarded() {
    const keys_file = join(folder, 'keys.json')
    writeKeysFile(keys_file, one, other, barred)
    return { keys_file, service: await start({ keys_file }) }
  }

  it('are asked for at the handshake', async () => {
    const { service } = await guarded()
    for (const [options, status] of [
      [{}, 401],
      [withKey('hvs_wrong'), 401],
      [withKey(barred.key), 403],
      [{ ...withKey(other.key), origin: 'https://evil.example' }, 403],
      [{ headers: { ...withKey(other.key).headers, host: 'evil.example' } }, 403],
    ] as const) {
      await expect(openClient(service.url + PATH, options)).rejects.toThrow(`${status}`)
    }
  })

  it('have a rate for messages, too', async () => {
    const { service } = await guarded()
    const client = await openClient(service.url + PATH, withKey(one.key))
    client.send(CREATE)
    client.send(CREATE)
    await client.until(6)
    client.send(CREATE)
    expect(await lastOf(client, 7)).toEqual({
      type: 'error',
      status: 429,
      error: {
        message: expect.stringContaining('rate'),
        type: 'rate_limit_error',
        param: null,
        code: 'rate_limited',
      },
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
    })
    expect(atUpstream().came).toHaveLength(2)
    client.socket.send(Buffer.from('bytes'))
    await eventually(() => expect(atUpstream().came).toHaveLength(3))
  })

  it('must still be in force', async () => {
    const { service, keys_file } = await guarded()
    const client = await openClient(service.url + PATH, withKey(other.key))
    client.send(CREATE)
    await client.until(3)
    writeKeysFile(keys_file, one, keyFor('other', { ...other.record, ...keyFor('x').record }))
    await eventually(async () => {
      service.reload(() => {
        throw new Error('only the keys')
      })
      client.send(CREATE)
      expect(await lastOf(client, client.got.length + 1)).toMatchObject({ status: 401 })
    })
  })
})

describe('the accounts', () => {
  interface Sums {
    readonly vendors: { readonly openai?: { readonly requests: number } & Record<string, unknown> }
    readonly conversations: readonly object[]
  }
  const savings = async (url: string) => (await json(fetch(`${url}/v1/savings`))) as unknown as Sums

  it('have what each response used and saved, as over HTTP', async () => {
    const { url } = await start()
    const client = await openClient(url + PATH)
    client.send(`{"type":"response.create",${bodyOf(2).slice(1)}`)
    await client.until(3)
    const { vendors, conversations } = await eventually(async () => {
      const sums = await savings(url)
      expect(sums.vendors.openai?.requests).toBe(1)
      return sums
    })
    expect(vendors.openai).toMatchObject({
      without_usage: 0,
      usage: { uncached_tokens: 400, cache_read_tokens: 600, output_tokens: 20 },
      removed: [{ tokens: expect.any(Number) }],
    })
    expect(conversations).toHaveLength(1)
  })

  it('name a conversation alike in all of its turns', async () => {
    const { url } = await start()
    const client = await openClient(url + PATH)
    const ask = async (input: readonly object[], more: object = {}) => {
      client.send(JSON.stringify({ type: 'response.create', model: 'gpt-5', input, ...more }))
      const { response } = await lastOf(client, client.got.length + 3)
      return response.id as string
    }
    const result = (output: string) => ({ type: 'function_call_output', call_id: 'c', output })
    const first = await ask([{ role: 'user', content: 'one' }])
    const other = await ask([{ role: 'user', content: 'other' }])
    const second = await ask([result('1')], { previous_response_id: first })
    await ask([result('2')], { previous_response_id: second })
    await ask([result('2')], { previous_response_id: other })
    const { conversations } = await eventually(async () => {
      const sums = await savings(url)
      expect(sums.vendors.openai?.requests).toBe(5)
      return sums
    })
    expect(conversations.map(each => (each as { requests: number }).requests).sort()).toEqual([
      2, 3,
    ])
  })

  it('have those that broke off, and none that was refused', async () => {
    const { url } = await start()
    let count = 0
    upstream.answerWith(socket => {
      count += 1
      if (count === 1) socket.send('{"type":"error","status":400,"error":{"code":"no"}}')
      else {
        socket.send('{"type":"response.created","response":{"id":"r"}}')
        socket.terminate()
      }
    })
    const client = await openClient(url + PATH)
    client.send(CREATE)
    await client.until(1)
    client.send(CREATE)
    await client.closed
    await eventually(async () => {
      const { openai } = (await savings(url)).vendors
      expect(openai).toMatchObject({ requests: 1, without_usage: 1 })
    })
  })
})

describe('the end', () => {
  it.each([
    [4001, 'theirs'],
    [1000, ''],
    [1011, 'x'.repeat(123)],
  ])('passes both ways: %d %s', async (code, reason) => {
    const { url } = await start()
    const client = await openClient(url + PATH)
    atUpstream().socket.close(code, reason)
    expect(await client.closed).toEqual([code, reason])
    const second = await openClient(url + PATH)
    const closed = once(atUpstream().socket, 'close')
    second.socket.close(code, reason)
    expect(await closed).toEqual([code, Buffer.from(reason)])
    expect(await second.closed).toEqual([code, reason])
  })

  it('without a close frame takes the other side with it', async () => {
    const { url } = await start()
    const client = await openClient(url + PATH)
    const closed = once(atUpstream().socket, 'close')
    client.socket.terminate()
    expect((await closed)[0]).toBe(1006)
  })

  it('is not reached by pings, which both sides answer', async () => {
    const { url } = await start()
    const client = await openClient(url + PATH)
    const { socket } = atUpstream()
    for (const [from, data] of [
      [client.socket, 'one'],
      [socket, 'other'],
    ] as const) {
      const pong = once(from, 'pong')
      from.ping(data)
      expect(await pong).toEqual([Buffer.from(data)])
    }
  })

  /** A service that is ending, a client, and how its response ends. */
  async function draining(limits: object = {}) {
    const started = Promise.withResolvers<WebSocket>()
    upstream.answerWith(socket => {
      socket.send('{"type":"response.created"}')
      started.resolve(socket)
    })
    const service = await start({ limits })
    const busy = await openClient(service.url + PATH)
    busy.send(CREATE)
    await busy.until(1)
    const idle = await openClient(service.url + PATH)
    const closing = service.close()
    return { service, busy, idle, closing, socket: await started.promise }
  }

  it('of a service comes when the responses under way have ended', async () => {
    const { busy, idle, closing, socket } = await draining({ drain_timeout_ms: 600_000 })
    expect(await idle.closed).toEqual([1001, 'the proxy is shutting down'])
    busy.send(CREATE)
    expect(await lastOf(busy, 2)).toMatchObject({ type: 'error', status: 503 })
    socket.send('{"type":"response.completed"}')
    expect(await lastOf(busy, 3)).toEqual({ type: 'response.completed' })
    expect(await busy.closed).toEqual([1001, 'the proxy is shutting down'])
    await closing
  })

  it('of a service comes at its limit', async () => {
    const { busy, closing } = await draining({ drain_timeout_ms: 50 })
    expect(await busy.closed).toEqual([1001, 'the proxy is shutting down'])
    await closing
  })
})

describe('a time limit', () => {
  const LATE = { type: 'error', status: 504, error: { code: 'upstream_timeout' } }

  it('is that for the head of an answer, until the response begins', async () => {
    upstream.answerWith(socket => socket.ping())
    const { url } = await start({}, { headers_ms: 300 })
    const client = await openClient(url + PATH)
    client.send(CREATE)
    expect(await lastOf(client, 1)).toMatchObject(LATE)
    expect(await client.closed).toEqual([1001, 'a time limit was reached'])
  })

  it('is that between two bytes, after that', async () => {
    upstream.answerWith(socket => socket.send('{"type":"response.created"}'))
    const { url } = await start({}, { idle_ms: 300 })
    const client = await openClient(url + PATH)
    client.send(CREATE)
    expect(await lastOf(client, 2)).toMatchObject(LATE)
    expect((await client.closed)[0]).toBe(1001)
  })

  it('is that of an exchange for all of a response, and for the time between two', async () => {
    let timer: NodeJS.Timeout | undefined
    upstream.answerWith(socket => {
      timer = setInterval(() => socket.send('{"type":"response.output_text.delta"}'), 5)
    })
    const { url } = await start({}, { total_ms: 400 })
    const client = await openClient(url + PATH)
    client.send(CREATE)
    expect((await client.closed)[0]).toBe(1001)
    clearInterval(timer)
    expect(parsed(client.got.at(-1)!)).toMatchObject(LATE)
    const quiet = await openClient(url + PATH)
    expect(await quiet.closed).toEqual([1001, 'a time limit was reached'])
    expect(quiet.got).toEqual([])
  })
})

describe('a side that does not read', () => {
  const MESSAGE = Buffer.alloc(1 << 20, 'x')
  const COUNT = 64

  it.each(['upstream', 'client'] as const)('makes the other one wait: the %s', async slow => {
    const { url } = await start()
    const client = await openClient(url + PATH)
    const { socket } = atUpstream()
    const [reader, writer] = slow === 'client' ? [client.socket, socket] : [socket, client.socket]
    reader.pause()
    let length = 0
    reader.on('message', (bytes: Buffer) => {
      length += bytes.length
    })
    for (let n = 0; n < COUNT; n++) writer.send(MESSAGE)
    // The kernel takes some MiB on each of the two connections, and the proxy no more than a chunk.
    let before = -1
    let still = 0
    await eventually(() => {
      const { bufferedAmount } = writer
      still = bufferedAmount === before ? still + 1 : 0
      before = bufferedAmount
      expect(still).toBe(5)
    }, 50)
    expect(writer.bufferedAmount).toBeGreaterThan((COUNT * MESSAGE.length) / 4)
    reader.resume()
    await eventually(() => expect(length).toBe(COUNT * MESSAGE.length))
  })
})
