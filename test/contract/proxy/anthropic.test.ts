import Anthropic from '@anthropic-ai/sdk'
import { describe, expect, it } from 'vitest'
import { FULL_RUNS } from '../../support/runs.ts'
import { json, sayings, type VendorStandIn, vendorStandIn } from './vendor-stand-in.ts'

const PARAMS = {
  model: 'claude-x',
  max_tokens: 64,
  messages: [{ role: 'user' as const, content: 'Wie spät ist es? 🕒' }],
}
const TOOLS = [{ name: 'clock', input_schema: { type: 'object' as const } }]
const USAGE = { input_tokens: 3, output_tokens: 5, cache_read_input_tokens: 2 }
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-x',
  content: [
    { type: 'text', text: 'Moment.' },
    { type: 'tool_use', id: 'toolu_1', name: 'clock', input: { zone: 'CET' } },
  ],
  stop_reason: 'tool_use',
  usage: USAGE,
  an_unknown_field: { kept: true },
}

function event(type: string, rest: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`
}

const EVENTS = [
  event('message_start', { message: { ...MESSAGE, content: [], stop_reason: null } }),
  event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  event('ping', {}),
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Drei' } }),
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: ' Uhr' } }),
  event('content_block_stop', { index: 0 }),
  event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: USAGE }),
  event('message_stop', {}),
]

function clients({ direct, proxied }: VendorStandIn, maxRetries = 0) {
  const make = (baseURL: string, key: object) => new Anthropic({ baseURL, maxRetries, ...key })
  const key = { apiKey: 'sk-ant-x', authToken: null }
  return { plain: make(direct, key), ours: make(proxied, key), make }
}

describe('the Anthropic client', () => {
  it('says and gets through the proxy what it says and gets without', async () => {
    const standIn = await vendorStandIn('anthropic', response => json(response, 200, MESSAGE))
    const { plain, ours } = clients(standIn)
    const turn = { role: 'assistant' as const, content: MESSAGE.content as never }
    const result = {
      type: 'tool_result' as const,
      tool_use_id: 'toolu_1',
      content: [
        { type: 'text' as const, text: 'a\u0000\ud83d\ude00' },
        {
          type: 'image' as const,
          source: {
            type: 'base64' as const,
            media_type: 'image/png' as const,
            data: 'iVBORw0KGgo=',
          },
        },
      ],
    }
    const messages = [...PARAMS.messages, turn, { role: 'user' as const, content: [result] }]
    const answers = []
    for (const client of [plain, ours]) {
      const headers = { 'anthropic-beta': 'a-1,b-2' }
      answers.push(
        await client.messages.create(
          { ...PARAMS, tools: TOOLS, messages },
          { headers, query: { beta: 'true' } },
        ),
      )
    }
    const [first, second] = standIn.requests
    expect(second && sayings(second)).toEqual(first && sayings(first))
    expect(second?.line).toBe('POST /v1/messages?beta=true')
    expect(answers[1]).toEqual(answers[0])
    expect(answers[1]).toMatchObject({
      content: MESSAGE.content,
      usage: USAGE,
      _request_id: 'req_1',
    })
  })

  it('passes OAuth tokens, and counts tokens', async () => {
    const standIn = await vendorStandIn('anthropic', response =>
      json(response, 200, { input_tokens: 7 }),
    )
    const { make } = clients(standIn)
    const client = make(standIn.proxied, { apiKey: null, authToken: 'oauth-token' })
    const { max_tokens: _, ...params } = PARAMS
    expect(await client.messages.countTokens(params)).toEqual({ input_tokens: 7 })
    expect(standIn.requests[0]?.line).toBe('POST /v1/messages/count_tokens')
    expect(standIn.requests[0] && sayings(standIn.requests[0])).toContain(
      'authorization: Bearer oauth-token',
    )
  })

  const MEGABYTES = FULL_RUNS ? 10 : 2
  it(`gets ${MEGABYTES} MB there and back`, async () => {
    const text = 'ä{}\\"'.repeat(200_000 * MEGABYTES)
    const standIn = await vendorStandIn('anthropic', (response, { body }) => {
      const { messages } = JSON.parse(body.toString())
      json(response, 200, { ...MESSAGE, content: [{ type: 'text', text: messages[0].content }] })
    })
    const messages = [{ role: 'user' as const, content: text }]
    const answer = await clients(standIn).ours.messages.create({ ...PARAMS, messages })
    const [block] = answer.content
    expect(block?.type === 'text' && block.text === text).toBe(true)
  })

  it('streams: each event is there before the next is sent', async () => {
    const shown = EVENTS.filter(text => !text.startsWith('event: ping'))
    const seen = shown.map(() => Promise.withResolvers<void>())
    const standIn = await vendorStandIn('anthropic', async response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const [at, text] of shown.entries()) {
        response.write(text)
        await seen[at]?.promise
      }
      response.end()
    })
    const stream = await clients(standIn).ours.messages.create({ ...PARAMS, stream: true })
    const types: string[] = []
    for await (const { type } of stream) {
      types.push(type)
      seen[types.length - 1]?.resolve()
    }
    expect(types).toEqual(shown.map(text => text.slice('event: '.length, text.indexOf('\n'))))
  })

  it('gathers a streamed message', async () => {
    const standIn = await vendorStandIn('anthropic', response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(EVENTS.join(''))
    })
    const message = await clients(standIn).ours.messages.stream(PARAMS).finalMessage()
    expect(message).toMatchObject({ content: [{ type: 'text', text: 'Drei Uhr' }], usage: USAGE })
  })

  it.each([
    [400, 'invalid_request_error', Anthropic.BadRequestError],
    [401, 'authentication_error', Anthropic.AuthenticationError],
    [429, 'rate_limit_error', Anthropic.RateLimitError],
    [500, 'api_error', Anthropic.InternalServerError],
    [529, 'overloaded_error', Anthropic.InternalServerError],
  ])('gets %i as it is', async (status, type, kind) => {
    const body = { type: 'error', error: { type, message: 'said the vendor' }, request_id: 'req_1' }
    const headers = { 'retry-after': '7', 'x-should-retry': 'false', 'anthropic-ratelimit-x': '0' }
    const standIn = await vendorStandIn('anthropic', response =>
      json(response, status, body, headers),
    )
    const failure = await clients(standIn)
      .ours.messages.create(PARAMS)
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(kind)
    if (!(failure instanceof Anthropic.APIError)) throw failure
    expect(failure).toMatchObject({ status, error: body, requestID: 'req_1' })
    for (const [name, value] of Object.entries(headers))
      expect(failure.headers?.get(name)).toBe(value)
  })

  it.each([429, 529])('tries again after %i when the vendor says so', async status => {
    const standIn = await vendorStandIn('anthropic', (response, _, n) => {
      if (n === 0) json(response, status, { type: 'error' }, { 'retry-after-ms': '1' })
      else json(response, 200, MESSAGE)
    })
    const answer = await clients(standIn, 1).ours.messages.create(PARAMS)
    expect(answer.id).toBe('msg_1')
    expect(standIn.requests.length).toBe(2)
  })

  it('throws where the upstream breaks off between two events', async () => {
    const standIn = await vendorStandIn('anthropic', response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(EVENTS.slice(0, 4).join(''), () => response.destroy())
    })
    const stream = await clients(standIn).ours.messages.create({ ...PARAMS, stream: true })
    const types: string[] = []
    const read = async () => {
      for await (const { type } of stream) types.push(type)
    }
    await expect(read()).rejects.toThrow(/api_error/)
    expect(types.length).toBe(3)
  })

  it('knows our errors as the vendor’s', async () => {
    const standIn = await vendorStandIn('anthropic', response => void response.destroy())
    const failure = await clients(standIn)
      .ours.messages.create(PARAMS)
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(Anthropic.InternalServerError)
    expect(failure).toMatchObject({ status: 502, type: 'api_error' })
  })

  it('cancels at the upstream what it aborts', async () => {
    const standIn = await vendorStandIn('anthropic', response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(EVENTS[0])
    })
    const stream = await clients(standIn).ours.messages.create({ ...PARAMS, stream: true })
    for await (const { type } of stream) {
      expect(type).toBe('message_start')
      stream.controller.abort()
    }
    expect(await standIn.requests[0]?.over).toBe(false)
  })
})
