import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startSmallService } from './harness.ts'
import { CONVERSATIONS, records } from './proxy-conversations.ts'
import {
  type Client,
  openClient,
  type ResponsesUpstream,
  responsesUpstream,
} from './responses-upstream.ts'

type TestService = Awaited<ReturnType<typeof startSmallService>>

const MAX_BYTES = 60_000
let upstream: ResponsesUpstream
let service: TestService

beforeAll(async () => {
  upstream = await responsesUpstream()
  const settings = { workers: { count: 1 }, proxy: { openai_url: upstream.url } }
  service = await startSmallService(settings, { limits: { rewriteBytes: MAX_BYTES } })
})

afterAll(async () => {
  await service.close()
  await upstream.close()
})

const { body: bodyOf, close: CLOSE } = CONVERSATIONS['responses']!
/** The body of a request as a message. */
const create = (body: string, rest = '') => `{ "type":"response.create",${rest}${body.slice(1)}`

const open = (path = '/openai/v1/responses', headers: Record<string, string> = {}) =>
  openClient(service.url + path, { headers })
/** The connection that was opened last. */
const atUpstream = () => upstream.sockets.at(-1)!

async function metric(name: string, url = service.url): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const line = text.split('\n').find(each => each.startsWith(`${name} `))
  return Number(line?.split(' ').at(-1) ?? 0)
}

/** What the upstream got for messages, of which each asks for a response. */
async function sent(client: Client, ...messages: readonly string[]): Promise<string[]> {
  const { came } = atUpstream()
  const before = came.length
  for (const message of messages) client.send(message)
  await client.until(client.got.length + 3 * messages.length)
  return came.slice(before).map(({ bytes }) => bytes.toString())
}

describe('the handshake', () => {
  it('passes with the headers of the client, and without extensions', async () => {
    const headers = {
      authorization: 'Bearer sk-test',
      'openai-beta': 'responses_websockets=2026-02-06',
      'session-id': 's1',
      'x-haversack-key': 'secret',
    }
    const client = await open('/openai/v1/responses?x=1', headers)
    const { handshake } = atUpstream()
    expect(handshake.url).toBe('/v1/responses?x=1')
    expect(handshake.headers).toMatchObject({
      authorization: headers.authorization,
      'openai-beta': headers['openai-beta'],
      'session-id': 's1',
      host: new URL(upstream.url).host,
    })
    expect(handshake.headers).not.toHaveProperty('x-haversack-key')
    expect(handshake.headers).not.toHaveProperty('sec-websocket-extensions')
    expect(client.socket.extensions).toBe('')
  })
})

describe('a message', () => {
  it('that asks for a response is rewritten like the body of a request', async () => {
    const client = await open()
    const [got] = await sent(client, create(bodyOf(3)))
    expect(got!.length).toBeLessThan(create(bodyOf(3)).length)
    const again = await open()
    expect(await sent(again, create(bodyOf(3)))).toEqual([got])
    expect(client.got.map(({ bytes }) => JSON.parse(bytes.toString()).type)).toEqual([
      'response.created',
      'response.output_text.delta',
      'response.completed',
    ])
  })

  it('has the results that it would have over HTTP, before or after', async () => {
    const outputs = (body: string) =>
      JSON.parse(body).input.map(({ output }: { output?: string }) => output)
    const post = async (turn: number) => {
      const response = await service.post('/openai/v1/responses', bodyOf(turn))
      await response.text()
      return outputs(upstream.posted.at(-1)!)
    }
    const client = await open()
    const first = await post(5)
    const [got = ''] = await sent(client, create(bodyOf(6)))
    expect(outputs(got).slice(0, first.length)).toEqual(first)
    expect(await post(6)).toEqual(outputs(got))
  })

  it('begins in each turn as the one before', async () => {
    const client = await open()
    const turns = await sent(client, ...[1, 2, 3, 4].map(turn => create(bodyOf(turn))))
    for (const [n, turn] of turns.entries()) {
      const before = turns[n - 1]?.slice(0, -CLOSE.length) ?? ''
      expect(turn.startsWith(before)).toBe(true)
    }
  })

  it('with the new items alone has its results rewritten, and nothing else', async () => {
    const client = await open()
    const item = (text: string) =>
      JSON.stringify({ type: 'function_call_output', call_id: 'c', output: text })
    const message = (text: string) =>
      `{"type":"response.create","model":"gpt-5","previous_response_id":"resp_1","input":[${item(text)}]}`
    const [got = ''] = await sent(client, message(records(1)))
    const { output } = JSON.parse(got).input[0]
    expect(output.length).toBeLessThan(records(1).length)
    expect(got).toBe(message(output))
    expect(await sent(client, message(records(1)))).toEqual([got])
  })

  it.each<[string, string | Uint8Array]>([
    ['of another type', `{"type":"response.steer","input":${JSON.stringify([records(1)])}}`],
    ['of another type, with a body', create(bodyOf(3)).replace('.create', '.append')],
    ['without a type', bodyOf(3)],
    ['that is no JSON', 'response.create \u0000 {"type":'],
    ['that is empty', ''],
    ['of bytes', Buffer.from(create(bodyOf(3)))],
    ['of many bytes', Buffer.alloc(3 * MAX_BYTES, 'x')],
  ])('passes byte for byte %s', async (_, message) => {
    upstream.answerWith((socket, { bytes, isBinary }) => socket.send(bytes, { binary: isBinary }))
    const client = await open()
    client.send(message)
    client.send('{"type":"response.processed"}')
    const got = await client.until(2)
    const { came } = atUpstream()
    expect(came[0]!.bytes.equals(Buffer.from(message))).toBe(true)
    expect(came[0]!.isBinary).toBe(typeof message !== 'string')
    expect(came[1]!.bytes.toString()).toBe('{"type":"response.processed"}')
    expect(got).toEqual(came)
  })

  it('without a place in the queue passes unchanged, and is counted', async () => {
    const full = await startSmallService(
      { workers: { count: 1 }, proxy: { openai_url: upstream.url } },
      { limits: { queueBytes: () => 4_096 } },
    )
    onTestFinished(() => full.close())
    const client = await openClient(`${full.url}/openai/v1/responses`)
    const message = create(bodyOf(4))
    expect(message.length).toBeGreaterThan(4_096)
    expect(await sent(client, message)).toEqual([message])
    const counted = 'haversack_proxy_untouched_total{vendor="openai",reason="overloaded"}'
    expect(await metric(counted, full.url)).toBe(1)
    const small = create(bodyOf(0))
    expect((await sent(client, small))[0]!.length).toBeLessThan(small.length)
  })

  it('above the limit passes unchanged, and is counted', async () => {
    const client = await open()
    const counted = 'haversack_proxy_untouched_total{vendor="openai",reason="too_large"}'
    const before = await metric(counted)
    const message = create(`${bodyOf(3)}${' '.repeat(MAX_BYTES)}`)
    expect(await sent(client, message)).toEqual([message])
    expect(await metric(counted)).toBe(before + 1)
  })
})
