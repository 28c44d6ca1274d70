import {
  BedrockRuntimeClient,
  BedrockRuntimeServiceException,
  ConverseCommand,
  ConverseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime'
import { GoogleGenAI } from '@google/genai'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import OpenAI, { AzureOpenAI } from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { json, startSmallService } from '../../integration/service/harness.ts'
import { records } from '../../integration/service/proxy-conversations.ts'
import {
  type RecordingUpstream,
  recordingUpstream,
} from '../../integration/service/recording-upstream.ts'
import { signatureFault } from '../../support/aws-verifier.ts'
import { answerAsCloud, CONVERSED, CREDENTIALS, frame, KEY, MODEL } from './cloud-answers.ts'

/** Partitions of AWS, and a zone. */
const REGIONS = ['us-gov-west-1', 'cn-north-1', 'us-iso-east-1', 'us-west-2-lax-1']
const ROWS = records(1)

let upstream: RecordingUpstream
let service: Awaited<ReturnType<typeof startSmallService>>

beforeAll(async () => {
  upstream = await recordingUpstream()
  process.env['TEST_ODD_SECRET'] = KEY.secret
  const { url } = upstream
  const aws = { access_key_id: KEY.id, secret_access_key: 'env:TEST_ODD_SECRET' }
  service = await startSmallService({
    workers: { count: 1 },
    proxy: {
      upstreams: [
        ...REGIONS.map(region => {
          return { name: region, url, dialect: 'bedrock' as const, aws: { region, ...aws } }
        }),
        { name: 'az', url, dialect: 'azure' },
        { name: 'gcp', url, dialect: 'vertex' },
      ],
    },
  })
})

beforeEach(() => upstream.answerWith(answerAsCloud))

afterAll(async () => {
  delete process.env['TEST_ODD_SECRET']
  await service.close()
  await upstream.close()
})

const CONVERSE = {
  modelId: MODEL,
  messages: [
    { role: 'user' as const, content: [{ text: 'How many?' }] },
    {
      role: 'assistant' as const,
      content: [{ toolUse: { toolUseId: 't1', name: 'list', input: {} } }],
    },
    {
      role: 'user' as const,
      content: [{ toolResult: { toolUseId: 't1', content: [{ text: ROWS }] } }],
    },
  ],
}
const CHAT = {
  model: 'gpt-x',
  messages: [
    { role: 'user' as const, content: 'How many?' },
    {
      role: 'assistant' as const,
      tool_calls: [
        { id: 'c1', type: 'function' as const, function: { name: 'list', arguments: '{}' } },
      ],
    },
    { role: 'tool' as const, tool_call_id: 'c1', content: ROWS },
  ],
}

/** That the vendor got another body than the client sent, at this path. */
function checkSmaller(path: string): void {
  const { line, body } = upstream.last()
  expect(line).toBe(`POST ${path}`)
  expect(body.length).toBeLessThan(ROWS.length)
}

function bedrock(region: string): BedrockRuntimeClient {
  return new BedrockRuntimeClient({
    ...{ region: 'eu-central-1', credentials: CREDENTIALS, maxAttempts: 1 },
    endpoint: `${service.url}/up/${region}`,
    requestHandler: new NodeHttpHandler(),
  })
}

describe('a region of AWS', () => {
  it.each(REGIONS)('%s is the one that the service signs for', async region => {
    const client = bedrock(region)
    await client.send(new ConverseCommand(CONVERSE))
    const { line, rawHeaders, body } = upstream.last()
    const [method = '', target = ''] = line.split(' ')
    expect(signatureFault({ method, target, rawHeaders, body }, KEY)).toBeNull()
    const signed = rawHeaders.find(each => each.startsWith('AWS4-HMAC-SHA256')) ?? ''
    expect(signed).toContain(`/${region}/bedrock/aws4_request`)
    client.destroy()
  })
})

describe('the client of AWS', () => {
  it('is told that credentials have expired', async () => {
    upstream.answerWith(response => {
      const headers = { 'x-amzn-errortype': 'ExpiredTokenException' }
      response.writeHead(403, { 'content-type': 'application/json', ...headers })
      response.end('{"message":"The security token included in the request is expired"}')
    })
    const asked = bedrock('cn-north-1').send(new ConverseCommand(CONVERSE))
    await expect(asked).rejects.toMatchObject({
      ...{ name: 'ExpiredTokenException', $metadata: { httpStatusCode: 403 } },
      message: expect.stringContaining('is expired'),
    })
    await expect(asked).rejects.toThrow(BedrockRuntimeServiceException)
  })

  it('gets the frames of a stream that breaks off in one, and an error', async () => {
    const frames = [
      frame('messageStart', { role: 'assistant' }),
      frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Twelve.' } }),
      frame('metadata', { usage: CONVERSED.usage, metrics: { latencyMs: 3 } }),
    ]
    const bytes = Buffer.concat(frames)
    for (const missing of [frames[2]!.length - 5, frames[2]!.length + 1]) {
      upstream.answerWith(response => {
        response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
        response.write(bytes.subarray(0, bytes.length - missing), () => response.destroy())
      })
      const { stream = [] } = await bedrock('cn-north-1').send(new ConverseStreamCommand(CONVERSE))
      const seen: string[] = []
      const read = async () => {
        for await (const event of stream) seen.push(...Object.keys(event))
      }
      await expect(read()).rejects.toThrow()
      const all = ['messageStart', 'contentBlockDelta']
      expect(seen).toEqual(all.slice(0, missing > frames[2]!.length ? 1 : 2))
    }
    // The service goes on, and what broke off before its usage is counted without.
    await expect
      .poll(async () => (await json(fetch(`${service.url}/v1/savings`)))['vendors'])
      .toMatchObject({ anthropic: { without_usage: 2 } })
  })
})

describe('a deployment of Azure', () => {
  it.each(['gpt-4.1_eu', 'größe 1', 'a%2Fb', "o'clock(2)"])('may be called %s', async name => {
    const client = new AzureOpenAI({
      ...{ baseURL: `${service.url}/up/az/openai`, apiKey: 'k', apiVersion: '2025-04-01-preview' },
      ...{ maxRetries: 0, deployment: name },
    })
    const before = await new AzureOpenAI({
      ...{ baseURL: `${upstream.url}/openai`, apiKey: 'k', apiVersion: '2025-04-01-preview' },
      ...{ maxRetries: 0 },
    }).chat.completions.create({ ...CHAT, model: name })
    const [, direct = ''] = upstream.last().line.split(' ')
    expect(await client.chat.completions.create({ ...CHAT, model: name })).toEqual(before)
    checkSmaller(direct)
  })

  it('is reached by its newer paths too, and gets fields that nobody knows', async () => {
    const client = new OpenAI({ baseURL: `${service.url}/up/az/openai/v1`, apiKey: 'k' })
    const asked = { ...CHAT, an_unknown_field: { z: [1, null] } }
    expect(await client.chat.completions.create(asked)).toMatchObject({ id: 'c1' })
    checkSmaller('/openai/v1/chat/completions')
    const { messages, ...rest } = JSON.parse(upstream.last().body.toString())
    const { messages: _, ...sent } = asked
    expect([rest, messages.length]).toEqual([sent, 3])
  })
})

describe('Google’s client for Vertex AI', () => {
  it('gets its answers for smaller results', async () => {
    const baseUrl = `${service.url}/up/gcp`
    const client = new GoogleGenAI({ vertexai: true, apiKey: 'AIza-x', httpOptions: { baseUrl } })
    const parts = [{ text: 'Twelve.' }]
    const candidates = [{ content: { role: 'model', parts }, finishReason: 'STOP' }]
    upstream.answerWith(response => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ candidates, an_unknown_field: 1 }))
    })
    const functionResponse = { name: 'list', response: { output: ROWS } }
    const { text } = await client.models.generateContent({
      model: 'gemini-2.5-pro',
      contents: [
        { role: 'user', parts: [{ text: 'How many?' }] },
        { role: 'model', parts: [{ functionCall: { name: 'list', args: {} } }] },
        { role: 'user', parts: [{ functionResponse }] },
      ],
    })
    expect(text).toBe('Twelve.')
    checkSmaller('/v1beta1/publishers/google/models/gemini-2.5-pro:generateContent')
  })
})
