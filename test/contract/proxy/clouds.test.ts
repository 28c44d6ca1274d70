import { AnthropicBedrock } from '@anthropic-ai/bedrock-sdk'
import { AnthropicVertex } from '@anthropic-ai/vertex-sdk'
import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  type Message,
  ThrottlingException,
} from '@aws-sdk/client-bedrock-runtime'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { AzureOpenAI } from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { decode } from '../../../src/index.ts'
import { startSmallService } from '../../integration/service/harness.ts'
import { records } from '../../integration/service/proxy-conversations.ts'
import {
  type RecordingUpstream,
  recordingUpstream,
} from '../../integration/service/recording-upstream.ts'
import { signatureFault } from '../../support/aws-verifier.ts'
import { eventually } from '../../support/eventually.ts'
import { answerAsCloud, COMPLETION, CREDENTIALS, KEY, MESSAGE, MODEL } from './cloud-answers.ts'

const ON_VERTEX = 'claude-sonnet-4-5@20250929'
const ROWS = records(1)

/** Someone that Google knows. */
const SIGNED_IN = {
  getRequestHeaders: async () => new Headers({ authorization: 'Bearer ya29.x' }),
} as unknown as NonNullable<ConstructorParameters<typeof AnthropicVertex>[0]>['authClient']

let upstream: RecordingUpstream
let service: Awaited<ReturnType<typeof startSmallService>>

beforeAll(async () => {
  upstream = await recordingUpstream()
  process.env['TEST_AWS_SECRET'] = KEY.secret
  const aws = {
    region: 'us-east-1',
    access_key_id: KEY.id,
    secret_access_key: 'env:TEST_AWS_SECRET',
  }
  const at = (name: string, dialect: 'bedrock' | 'vertex' | 'azure', more: object = {}) => {
    return { name, url: upstream.url, dialect, ...more }
  }
  service = await startSmallService({
    workers: { count: 1 },
    proxy: {
      upstreams: [at('aws', 'bedrock', { aws }), at('gcp', 'vertex'), at('az', 'azure')],
    },
  })
})

beforeEach(() => upstream.answerWith(answerAsCloud))

afterAll(async () => {
  delete process.env['TEST_AWS_SECRET']
  await service.close()
  await upstream.close()
})

/** All strings of a value. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsIn)
}

/** That the vendor got the rows in fewer letters, and a signature that holds if it asks for one. */
function checkSent(path: string, isSigned: boolean): void {
  const { line, rawHeaders, body } = upstream.last()
  const [method = '', target = ''] = line.split(' ')
  expect(decodeURIComponent(target)).toContain(path)
  const sent = body.toString()
  expect(sent.length).toBeLessThan(ROWS.length)
  const table = textsIn(JSON.parse(sent)).find(text => /^\[\d+/.test(text)) ?? ''
  const { content } = decode({ content: table, format: 'tree@2' })
  expect(JSON.parse(content)).toEqual(JSON.parse(ROWS))
  if (isSigned) expect(signatureFault({ method, target, rawHeaders, body }, KEY)).toBeNull()
}

/** Rejects once its connection is gone. */
async function leaveWhileAsking(ask: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const left = Promise.withResolvers<void>()
  upstream.answerWith(response => void response.once('close', () => left.resolve()))
  const controller = new AbortController()
  const asked = ask(controller.signal)
  const rejected = expect(asked).rejects.toThrow()
  await eventually(async () => expect(upstream.requests).toHaveLength(1))
  controller.abort()
  await rejected
  await left.promise
}

describe('the client of AWS', () => {
  const messages: Message[] = [
    { role: 'user', content: [{ text: 'Wie viele? 🕒' }] },
    { role: 'assistant', content: [{ toolUse: { toolUseId: 't1', name: 'list', input: {} } }] },
    { role: 'user', content: [{ toolResult: { toolUseId: 't1', content: [{ text: ROWS }] } }] },
  ]
  const request = { modelId: MODEL, messages }
  let client: BedrockRuntimeClient

  beforeAll(() => {
    client = new BedrockRuntimeClient({
      ...{ region: 'us-east-1', credentials: CREDENTIALS, maxAttempts: 1 },
      endpoint: `${service.url}/up/aws`,
      requestHandler: new NodeHttpHandler(),
    })
  })

  afterAll(() => client.destroy())

  it('converses, in one piece and as a stream, and its requests are signed once more', async () => {
    const { output } = await client.send(new ConverseCommand(request))
    expect(output?.message?.content?.[0]?.text).toBe('Twelve.')
    checkSent(`/model/${MODEL}/converse`, true)

    const texts: (string | undefined)[] = []
    const { stream = [] } = await client.send(new ConverseStreamCommand(request))
    for await (const each of stream as AsyncIterable<Record<string, never>>) {
      const { contentBlockDelta } = each as { contentBlockDelta?: { delta: { text: string } } }
      if (contentBlockDelta !== undefined) texts.push(contentBlockDelta.delta.text)
    }
    expect(texts).toEqual(['Twelve.'])
    checkSent(`/model/${MODEL}/converse-stream`, true)
  })

  it('gets errors of the vendor as they are, and ours in a form that it reads', async () => {
    upstream.answerWith(response => {
      const headers = { 'x-amzn-errortype': 'ThrottlingException:http://internal.amazon.com/' }
      response.writeHead(429, { 'content-type': 'application/json', ...headers })
      response.end('{"message":"Slow down"}')
    })
    const asked = client.send(new ConverseCommand(request))
    await expect(asked).rejects.toThrow(ThrottlingException)
    upstream.answerWith(response => response.destroy())
    await expect(client.send(new ConverseCommand(request))).rejects.toMatchObject({
      $metadata: { httpStatusCode: 502 },
    })
  })

  it('can send ten megabytes, and leave', async () => {
    const large = [{ role: 'user' as const, content: [{ text: 'x'.repeat(10_000_000) }] }]
    const all = { ...request, messages: [...large, ...messages.slice(1)] }
    const { stopReason } = await client.send(new ConverseCommand(all))
    expect(stopReason).toBe('end_turn')
    const { line, rawHeaders, body } = upstream.last()
    const [method = '', target = ''] = line.split(' ')
    expect(body.length).toBeGreaterThan(10_000_000)
    expect(signatureFault({ method, target, rawHeaders, body }, KEY)).toBeNull()
    await leaveWhileAsking(abortSignal =>
      client.send(new ConverseCommand(request), { abortSignal }),
    )
  })
})

describe.each([
  [
    'Bedrock',
    MODEL,
    `/model/${MODEL}/invoke`,
    `/model/${MODEL}/invoke-with-response-stream`,
    true,
    () =>
      new AnthropicBedrock({
        ...{ baseURL: `${service.url}/up/aws`, awsRegion: 'us-east-1', maxRetries: 0 },
        ...{ awsAccessKey: 'CLIENT', awsSecretKey: 'of the client' },
      }),
  ],
  [
    'Vertex AI',
    ON_VERTEX,
    `/v1/projects/p/locations/us-east5/publishers/anthropic/models/${ON_VERTEX}:rawPredict`,
    `/v1/projects/p/locations/us-east5/publishers/anthropic/models/${ON_VERTEX}:streamRawPredict`,
    false,
    () =>
      new AnthropicVertex({
        ...{ baseURL: `${service.url}/up/gcp/v1`, region: 'us-east5', projectId: 'p' },
        ...{ authClient: SIGNED_IN, maxRetries: 0 },
      }),
  ],
] as const)('Anthropic’s client for %s', (_name, model, path, streamPath, isSigned, connect) => {
  const tools = [{ name: 'list', input_schema: { type: 'object' as const } }]
  const request = {
    ...{ model, max_tokens: 99, tools },
    messages: [
      { role: 'user' as const, content: 'Wie viele? 🕒' },
      {
        role: 'assistant' as const,
        content: [{ type: 'tool_use' as const, id: 't1', name: 'list', input: {} }],
      },
      {
        role: 'user' as const,
        content: [{ type: 'tool_result' as const, tool_use_id: 't1', content: ROWS }],
      },
    ],
  }

  it('gets its answers, in one piece and as a stream, for smaller results', async () => {
    const client = connect()
    const whole = await client.messages.create(request)
    expect(whole).toMatchObject({ content: MESSAGE.content, an_unknown_field: { z: 1 } })
    checkSent(path, isSigned)
    const texts: string[] = []
    for await (const event of await client.messages.create({ ...request, stream: true })) {
      if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') {
        texts.push(event.delta.text)
      }
    }
    expect(texts).toEqual(['Twelve.'])
    checkSent(streamPath, isSigned)
  })

  it('gets errors of the vendor as they are, and ours by their status', async () => {
    const client = connect()
    upstream.answerWith(response => {
      response.writeHead(429, { 'content-type': 'application/json' })
      response.end('{"message":"Slow down"}')
    })
    await expect(client.messages.create(request)).rejects.toMatchObject({
      status: 429,
      error: { message: 'Slow down' },
    })
    upstream.answerWith(response => response.destroy())
    await expect(client.messages.create(request)).rejects.toMatchObject({ status: 502 })
  })

  it('can send ten megabytes, and leave', async () => {
    const client = connect()
    const system = 'x'.repeat(10_000_000)
    expect(await client.messages.create({ ...request, system })).toMatchObject({ id: 'msg_1' })
    expect(upstream.last().body.length).toBeGreaterThan(10_000_000)
    await leaveWhileAsking(signal => client.messages.create(request, { signal }))
  })
})

describe('OpenAI’s client for Azure', () => {
  const request = {
    model: 'gpt-x',
    messages: [
      { role: 'user' as const, content: 'Wie viele? 🕒' },
      {
        role: 'assistant' as const,
        tool_calls: [
          { id: 'c1', type: 'function' as const, function: { name: 'list', arguments: '{}' } },
        ],
      },
      { role: 'tool' as const, tool_call_id: 'c1', content: ROWS },
    ],
  }
  const connect = () =>
    new AzureOpenAI({
      ...{ baseURL: `${service.url}/up/az/openai`, apiKey: 'k', apiVersion: '2025-04-01' },
      ...{ maxRetries: 0 },
    })

  it('gets its answers for smaller results, under its deployment and version', async () => {
    const whole = await connect().chat.completions.create(request)
    expect(whole).toMatchObject({ choices: COMPLETION.choices, an_unknown_field: 1 })
    checkSent('/openai/deployments/gpt-x/chat/completions?api-version=2025-04-01', false)
    expect(upstream.last().rawHeaders).toContain('k')
  })

  it('gets the stream of an answer through the proxy', async () => {
    upstream.answerWith(response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const choices = [{ index: 0, delta: { content: 'Twelve.' }, finish_reason: null }]
      const chunk = { ...COMPLETION, object: 'chat.completion.chunk', choices }
      response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)
    })
    const texts: (string | null | undefined)[] = []
    const stream = await connect().chat.completions.create({ ...request, stream: true })
    for await (const { choices } of stream) texts.push(choices[0]?.delta.content)
    expect(texts).toEqual(['Twelve.'])
    checkSent('/openai/deployments/gpt-x/chat/completions?api-version=2025-04-01', false)
  })

  it('gets errors, can send ten megabytes, and leave', async () => {
    const client = connect()
    upstream.answerWith(response => {
      response.writeHead(429, { 'content-type': 'application/json' })
      response.end('{"error":{"code":"429","message":"Slow down"}}')
    })
    await expect(client.chat.completions.create(request)).rejects.toMatchObject({ code: '429' })
    upstream.answerWith(response => response.destroy())
    await expect(client.chat.completions.create(request)).rejects.toMatchObject({ status: 502 })
    upstream.answerWith(answerAsCloud)
    const large = [{ role: 'system' as const, content: 'x'.repeat(10_000_000) }]
    const all = { ...request, messages: [...large, ...request.messages] }
    expect(await client.chat.completions.create(all)).toMatchObject({ id: 'c1' })
    expect(upstream.last().body.length).toBeGreaterThan(10_000_000)
    await leaveWhileAsking(signal => client.chat.completions.create(request, { signal }))
  })
})
