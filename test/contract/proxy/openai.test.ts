import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { json, sayings, type VendorStandIn, vendorStandIn } from './vendor-stand-in.ts'

const CHAT = {
  model: 'gpt-x',
  messages: [
    { role: 'user' as const, content: 'Wie spät? 🕒' },
    {
      role: 'assistant' as const,
      tool_calls: [
        { id: 'call_1', type: 'function' as const, function: { name: 'clock', arguments: '{}' } },
      ],
    },
    { role: 'tool' as const, tool_call_id: 'call_1', content: '{"hour": 3.0}' },
  ],
  tools: [
    { type: 'function' as const, function: { name: 'clock', parameters: { type: 'object' } } },
  ],
}
const USAGE = { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 }
const CALL = { id: 'call_2', type: 'function', function: { name: 'clock', arguments: '{"z":1}' } }
const COMPLETION = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-x',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: null, tool_calls: [CALL] },
      finish_reason: 'tool_calls',
    },
  ],
  usage: USAGE,
  an_unknown_field: true,
}
const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  output: [
    {
      type: 'message',
      id: 'm',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Drei Uhr', annotations: [] }],
    },
  ],
}
const INPUT = [
  { type: 'function_call' as const, call_id: 'call_1', name: 'clock', arguments: '{}' },
  { type: 'function_call_output' as const, call_id: 'call_1', output: 'drei' },
]

function chunk(content: string): string {
  const choices = [{ index: 0, delta: { content }, finish_reason: null }]
  return `data: ${JSON.stringify({ ...COMPLETION, object: 'chat.completion.chunk', choices })}\n\n`
}

function clients({ direct, proxied }: VendorStandIn, maxRetries = 0) {
  const make = (url: string) => {
    return new OpenAI({ baseURL: `${url}/v1`, apiKey: 'sk-x', organization: 'org', maxRetries })
  }
  return { plain: make(direct), ours: make(proxied) }
}

describe('the OpenAI client', () => {
  it('says and gets through the proxy what it says and gets without', async () => {
    const standIn = await vendorStandIn('openai', (response, { line }) => {
      json(response, 200, line.includes('chat') ? COMPLETION : RESPONSE, {
        'x-request-id': 'req_2',
      })
    })
    const { plain, ours } = clients(standIn)
    const answers = []
    for (const client of [plain, ours]) {
      const chat = await client.chat.completions.create(CHAT)
      const response = await client.responses.create({ model: 'gpt-x', input: INPUT })
      answers.push({ chat, response })
    }
    const [chat, response, chatToo, responseToo] = standIn.requests.map(sayings)
    expect([chatToo, responseToo]).toEqual([chat, response])
    expect(responseToo?.[0]).toBe('POST /v1/responses')
    expect(answers[1]).toEqual(answers[0])
    expect(answers[1]?.chat).toMatchObject({ usage: USAGE, _request_id: 'req_2' })
    expect(answers[1]?.chat.choices[0]?.message.tool_calls).toEqual([CALL])
    expect(answers[1]?.response.output_text).toBe('Drei Uhr')
  })

  it('uploads a file in parts, and gets bytes back', async () => {
    const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, at) => at % 251))
    const standIn = await vendorStandIn('openai', (response, { line, body }) => {
      if (line.startsWith('GET')) response.end(bytes)
      else json(response, 200, { id: 'file_1', bytes: body.length })
    })
    const { ours } = clients(standIn)
    const file = await OpenAI.toFile(bytes, 'résumé.bin')
    expect(await ours.files.create({ file, purpose: 'user_data' })).toMatchObject({ id: 'file_1' })
    expect(standIn.requests[0]?.body.includes(bytes)).toBe(true)
    const content = await ours.files.content('file_1')
    expect(Buffer.from(await content.arrayBuffer()).equals(bytes)).toBe(true)
  })

  it('streams: each chunk is there before the next is sent', async () => {
    const words = ['Drei', ' Uhr', ' früh']
    const seen = words.map(() => Promise.withResolvers<void>())
    const standIn = await vendorStandIn('openai', async response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const [at, word] of words.entries()) {
        response.write(chunk(word))
        await seen[at]?.promise
      }
      response.end('data: [DONE]\n\n')
    })
    const stream = await clients(standIn).ours.chat.completions.create({ ...CHAT, stream: true })
    const got: unknown[] = []
    for await (const { choices } of stream) {
      got.push(choices[0]?.delta.content)
      seen[got.length - 1]?.resolve()
    }
    expect(got).toEqual(words)
  })

  it.each([
    [400, 'invalid_request_error', OpenAI.BadRequestError],
    [401, 'invalid_request_error', OpenAI.AuthenticationError],
    [429, 'requests', OpenAI.RateLimitError],
    [500, 'server_error', OpenAI.InternalServerError],
    [529, 'server_error', OpenAI.InternalServerError],
  ])('gets %i as it is', async (status, type, kind) => {
    const error = { message: 'said the vendor', type, param: 'model', code: 'x_code' }
    const headers = {
      'retry-after': '7',
      'x-should-retry': 'false',
      'x-ratelimit-limit-tokens': '1',
    }
    const standIn = await vendorStandIn('openai', response =>
      json(response, status, { error }, headers),
    )
    const failure = await clients(standIn)
      .ours.chat.completions.create(CHAT)
      .catch((thrown: unknown) => thrown)
    expect(failure).toBeInstanceOf(kind)
    if (!(failure instanceof OpenAI.APIError)) throw failure
    expect(failure).toMatchObject({ status, error, type, code: 'x_code' })
    for (const [name, value] of Object.entries(headers))
      expect(failure.headers?.get(name)).toBe(value)
  })

  it.each([429, 500])('tries again after %i when the vendor says so', async status => {
    const standIn = await vendorStandIn('openai', (response, _, n) => {
      if (n === 0) json(response, status, {}, { 'retry-after-ms': '1' })
      else json(response, 200, COMPLETION)
    })
    expect((await clients(standIn, 1).ours.chat.completions.create(CHAT)).id).toBe('chatcmpl-1')
    expect(standIn.requests.length).toBe(2)
  })

  it('throws where the upstream breaks off between two events', async () => {
    const standIn = await vendorStandIn('openai', response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(chunk('Drei'), () => response.destroy())
    })
    const stream = await clients(standIn).ours.chat.completions.create({ ...CHAT, stream: true })
    const got: unknown[] = []
    const read = async () => {
      for await (const { choices } of stream) got.push(choices[0]?.delta.content)
    }
    await expect(read()).rejects.toMatchObject({ code: 'upstream_broken', type: 'server_error' })
    expect(got).toEqual(['Drei'])
  })

  it('throws too where it breaks off between two events of a response', async () => {
    const created = { type: 'response.created', sequence_number: 0, response: RESPONSE }
    const standIn = await vendorStandIn('openai', response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const event = `event: response.created\ndata: ${JSON.stringify(created)}\n\n`
      response.write(event, () => response.destroy())
    })
    const params = { model: 'gpt-x', input: INPUT, stream: true } as const
    const stream = await clients(standIn).ours.responses.create(params)
    const read = async () => {
      for await (const { type } of stream) expect(type).toBe('response.created')
    }
    await expect(read()).rejects.toMatchObject({ code: 'upstream_broken' })
  })

  it('knows our errors as the vendor’s', async () => {
    const standIn = await vendorStandIn('openai', response => void response.destroy())
    const failure = await clients(standIn)
      .ours.chat.completions.create(CHAT)
      .catch((thrown: unknown) => thrown)
    expect(failure).toBeInstanceOf(OpenAI.InternalServerError)
    expect(failure).toMatchObject({ status: 502, code: 'upstream_broken', type: 'server_error' })
  })

  it('cancels at the upstream what it aborts', async () => {
    const standIn = await vendorStandIn('openai', () => undefined)
    const abort = new AbortController()
    const call = clients(standIn).ours.chat.completions.create(CHAT, { signal: abort.signal })
    const failed = expect(call).rejects.toBeInstanceOf(OpenAI.APIUserAbortError)
    while (standIn.requests.length === 0) await new Promise(resolve => setImmediate(resolve))
    abort.abort()
    await failed
    expect(await standIn.requests[0]?.over).toBe(false)
  })
})
