import { EventStreamCodec } from '@smithy/eventstream-codec'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { json, startSmallService } from './harness.ts'
import { records } from './proxy-conversations.ts'
import { answerOk, type RecordingUpstream, recordingUpstream } from './recording-upstream.ts'

let upstream: RecordingUpstream
let service: Awaited<ReturnType<typeof startSmallService>>

beforeAll(async () => {
  upstream = await recordingUpstream()
  const at = (name: string, dialect: 'bedrock' | 'vertex' | 'azure') => ({
    name,
    url: upstream.url,
    dialect,
  })
  service = await startSmallService({
    workers: { count: 1 },
    proxy: { upstreams: [at('aws', 'bedrock'), at('gcp', 'vertex'), at('az', 'azure')] },
  })
})

afterAll(async () => {
  await service.close()
  await upstream.close()
})

const CONVERSE = JSON.stringify({
  messages: [
    { role: 'user', content: [{ text: 'List them.' }] },
    { role: 'assistant', content: [{ toolUse: { toolUseId: 't', name: 'list', input: {} } }] },
    {
      role: 'user',
      content: [
        { toolResult: { toolUseId: 't', content: [{ text: records(1) }] } },
        { cachePoint: { type: 'default' } },
      ],
    },
  ],
})
const MESSAGES = JSON.stringify({
  anthropic_version: 'vertex-2023-10-16',
  messages: [
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'list', input: {} }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't', content: records(2) }],
    },
  ],
})

function post(path: string, body: string, headers: Record<string, string> = {}) {
  const all = { 'content-type': 'application/json', ...headers }
  return fetch(service.url + path, { method: 'POST', headers: all, body })
}

async function sentFor(path: string, body: string, headers?: Record<string, string>) {
  upstream.answerWith(answerOk)
  expect((await post(path, body, headers)).status).toBe(200)
  return upstream.last().body.toString()
}

async function untouched(reason: string): Promise<number> {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  const line = text.split('\n').find(each => each.includes('untouched') && each.includes(reason))
  return Number(line?.split(' ').at(-1) ?? 0)
}

describe('an upstream with a name', () => {
  it.each([
    ['/up/aws/model/us.anthropic.claude-sonnet-4-5-v1%3A0/converse', CONVERSE],
    ['/up/aws/model/us.anthropic.claude-sonnet-4-5-v1%3A0/invoke', MESSAGES],
    ['/up/gcp/v1/projects/p/publishers/anthropic/models/claude-x@1:rawPredict', MESSAGES],
  ])('gets smaller results at %s, and the path as it was sent', async (path, body) => {
    const sent = await sentFor(path, body)
    expect(sent.length).toBeLessThan(body.length / 2)
    expect(upstream.last().line).toBe(`POST ${path.replace(/^\/up\/\w+/, '')}`)
    // The next turn repeats it.
    const longer = { role: 'user', content: [] }
    const { messages, ...rest } = JSON.parse(body)
    const next = JSON.stringify({ ...rest, messages: [...messages, longer] })
    const before = JSON.parse(sent).messages
    expect(JSON.parse(await sentFor(path, next)).messages.slice(0, -1)).toEqual(before)
  })

  it('gets a signed body as it is, which is counted', async () => {
    const path = '/up/aws/model/anthropic.claude-x/converse'
    const authorization = 'AWS4-HMAC-SHA256 Credential=AKIA/20261123/us-east-1/bedrock/aws4_request'
    const before = await untouched('signed')
    expect(await sentFor(path, CONVERSE, { authorization })).toBe(CONVERSE)
    expect(await untouched('signed')).toBe(before + 1)
    const bearer = { authorization: 'Bearer bedrock-api-key-x' }
    expect((await sentFor(path, CONVERSE, bearer)).length).toBeLessThan(CONVERSE.length / 2)
    expect(upstream.last().rawHeaders).toContain(bearer.authorization)
  })

  it('is none of ours under another name', async () => {
    upstream.answerWith(answerOk)
    for (const path of ['/up/other/x', '/up/aw', '/up/awsx/model', '/up']) {
      expect((await post(path, '{}')).status).toBe(404)
    }
    expect(upstream.requests).toHaveLength(0)
  })

  it('that breaks off is told in the words of its vendor', async () => {
    upstream.answerWith(response => response.destroy())
    const aws = await post('/up/aws/model/anthropic.claude-x/converse', CONVERSE)
    expect([aws.status, await aws.json()]).toMatchObject([502, { __type: expect.any(String) }])
    const gcp = await post('/up/gcp/v1/x', '{}')
    expect(await gcp.json()).toMatchObject({ error: { code: 502, status: 'INTERNAL' } })
    const az = await post('/up/az/openai/deployments/d/chat/completions', '{}')
    expect(await az.json()).toMatchObject({ error: { type: 'server_error' } })
  })
})

describe('the accounts', () => {
  it('have what frames report, at the prices of the model that the path names', async () => {
    const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()
    const codec = new EventStreamCodec(text, each => Buffer.from(each))
    const usage = { inputTokens: 11, outputTokens: 2, cacheReadInputTokens: 900 }
    const body = Buffer.from(JSON.stringify({ usage, metrics: {} }))
    const frame = codec.encode({ headers: {}, body })
    upstream.answerWith(response => {
      response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
      response.write(frame.subarray(0, 7))
      response.end(frame.subarray(7))
    })
    const model = 'anthropic.claude-haiku-4-5-v1:0'
    const path = `/up/aws/model/${encodeURIComponent(model)}/converse-stream`
    const answer = await post(path, CONVERSE)
    expect(Buffer.from(await answer.arrayBuffer()).equals(frame)).toBe(true)
    await eventually(async () => {
      const { conversations } = (await json(fetch(`${service.url}/v1/savings`))) as {
        readonly conversations: readonly { readonly model: string | null }[]
      }
      expect(conversations.find(each => each.model === model)).toMatchObject({
        vendor: 'anthropic',
        usage: { uncached_tokens: 11, cache_read_tokens: 900, output_tokens: 2 },
      })
    })
  })
})
