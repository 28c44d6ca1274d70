import { request as httpRequest } from 'node:http'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { BATCH_LIMITS } from '../../../src/pool/batching.ts'
import { json, startSmallService, startTestService } from './harness.ts'
import { CONVERSATIONS, records } from './proxy-conversations.ts'
import { answerOk, type RecordingUpstream, recordingUpstream } from './recording-upstream.ts'

type TestService = Awaited<ReturnType<typeof startTestService>>

/** Above what is copied to threads anyway. */
const MAX_BYTES = 120_000

let upstream: RecordingUpstream
let service: TestService

beforeAll(async () => {
  upstream = await recordingUpstream()
  service = await startTestService(
    {
      workers: { count: 1 },
      proxy: {
        anthropic_url: upstream.url,
        openai_url: upstream.url,
      },
      limits: { job_timeout_ms: 2_000 },
    },
    {
      limits: { rewriteBytes: MAX_BYTES },
      workerUrl: new URL('worker-with-rewrite-faults.ts', import.meta.url),
    },
  )
})

beforeEach(() => upstream.answerWith(answerOk))

afterAll(async () => {
  await (await other)?.close()
  await service.close()
  await upstream.close()
})

/** What the upstream got for a body. */
async function forwarded(
  path: string,
  body: string,
  headers: Record<string, string> = {},
  base = service.url,
): Promise<string> {
  const response = await fetch(base + path, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  })
  expect(response.status).toBe(200)
  expect(response.headers.get('x-haversack-added-ms')).toMatch(/^\d+\.\d{3}$/)
  expect(await response.text()).toBe('{"ok": true}')
  return upstream.last().body.toString()
}

/** A count of the metrics. */
async function counted(name: string, base = service.url): Promise<number> {
  const text = await (await fetch(`${base}/metrics`)).text()
  const line = text.split('\n').find(each => each.startsWith(`${name} `))
  return Number(line?.split(' ').at(-1) ?? 0)
}

/** The body without its tool results, and these. */
function withoutResults(body: string): { rest: string; results: string[] } {
  const results: string[] = []
  const rest = body.replace(/"(?:[^"\\]|\\.)*"/g, literal => {
    const text = JSON.parse(literal) as string
    if (!text.includes('item')) return literal
    results.push(text)
    return '"…"'
  })
  return { rest, results }
}

/** What `text` means, as the service itself would have written it for `content`. */
async function decoded(content: string, text: string): Promise<unknown> {
  const post = (path: string, body: object) => json(service.post(path, JSON.stringify(body)))
  const { format } = await post('/v1/encode', { content })
  const value = await post('/v1/decode', { content: text, format })
  return JSON.stringify(JSON.parse(value['content'] as string), null, 2)
}

describe.each(Object.entries(CONVERSATIONS))('a conversation: %s', (_, conversation) => {
  const { path, open, close } = conversation

  it('is forwarded with smaller tool results, and nothing else changed', async () => {
    const sent = conversation.body(2)
    const got = await forwarded(path, sent)
    expect(got.length).toBeLessThan(sent.length * 0.7)
    const before = withoutResults(sent)
    const after = withoutResults(got)
    expect(after.rest).toBe(before.rest)
    expect(before.results).toEqual([records(0), records(1), records(2)])
    for (const [n, text] of after.results.entries()) {
      expect(text.length).toBeLessThan(records(n).length)
      expect(await decoded(records(n), text)).toBe(records(n))
    }
  })

  it('begins in each turn as it did before, through another service too', async () => {
    const turns = [0, 1, 2, 3, 4, 5]
    const inFirst: string[] = []
    for (const turn of turns) inFirst.push(await forwarded(path, conversation.body(turn)))
    for (const turn of turns.slice(1)) {
      const before = inFirst[turn - 1]!
      expect(before.startsWith(open) && before.endsWith(close)).toBe(true)
      expect(inFirst[turn]!.startsWith(before.slice(0, -close.length))).toBe(true)
    }
    // From the last to the first, so that nothing that a service remembers could help.
    for (const turn of turns.toReversed()) {
      const other = await forwarded(path, conversation.body(turn), {}, (await otherService()).url)
      expect(other).toBe(inFirst[turn])
    }
  })

  it('is forwarded as it is with X-Haversack-Bypass', async () => {
    const sent = conversation.body(1)
    expect(await forwarded(path, sent, { 'x-haversack-bypass': 'true' })).toBe(sent)
    expect(await forwarded(path, sent, { 'x-haversack-bypass': 'false' })).not.toBe(sent)
  })
})

let other: Promise<TestService> | undefined

/** Another service with a store of its own, started when it is first needed. */
function otherService(): Promise<TestService> {
  other ??= startSmallService({
    proxy: { anthropic_url: upstream.url, openai_url: upstream.url },
  })
  return other
}

const { path: PATH, body: bodyOf } = CONVERSATIONS['anthropic']!
const BODY = bodyOf(1)

describe('forwarded byte for byte', () => {
  it.each<[string, string, string, Record<string, string>]>([
    ['another path', '/anthropic/v1/messages/batches', BODY, {}],
    ['another media type', PATH, BODY, { 'content-type': 'application/octet-stream' }],
    ['a compressed body', PATH, BODY, { 'content-encoding': 'br' }],
    ['a body without a gain', PATH, '{ "messages" : [ ] }', {}],
    ['no body', PATH, '', {}],
  ])('%s', async (_, path, body, headers) => {
    expect(await forwarded(path, body, headers)).toBe(body)
  })

  it.each([
    ['no JSON', `${BODY}x`],
    ['JSON that breaks off', BODY.slice(0, -4)],
    ['another shape', '[1, 2]'],
    ['a key twice', `{"messages":[],${BODY.slice(1)}`],
  ])('and counted, what is no request: %s', async (_, body) => {
    const name = 'haversack_proxy_untouched_total{vendor="anthropic",reason="unreadable"}'
    const before = await counted(name)
    expect(await forwarded(PATH, body)).toBe(body)
    expect(await counted(name)).toBe(before + 1)
  })

  it.each(['fault-exit', 'fault-hang', 'fault-bug'])('what a worker fails at: %s', async fault => {
    const body = bodyOf(60).replace('claude-sonnet-4', fault)
    expect(body.length).toBeGreaterThan(BATCH_LIMITS.copyBytes)
    const name = 'haversack_proxy_untouched_total{vendor="anthropic",reason="failed"}'
    const before = await counted(name)
    expect(await forwarded(PATH, body)).toBe(body)
    expect(await counted(name)).toBe(before + 1)
    expect((await forwarded(PATH, BODY)).length).toBeLessThan(BODY.length)
  })

  it('a body above the limit, announced or not', async () => {
    const large = bodyOf(120)
    expect(large.length).toBeGreaterThan(MAX_BYTES)
    expect(await forwarded(PATH, large)).toBe(large)
    await sendInParts(large)
    expect(upstream.last().body.toString()).toBe(large)
    const small = bodyOf(3)
    await sendInParts(small)
    expect(upstream.last().body.length).toBeLessThan(small.length)
  })

  it('everything, where compression is off', async () => {
    const off = await startSmallService({
      workers: { count: 1 },
      compression: { enabled: false },
      proxy: { anthropic_url: upstream.url },
    })
    try {
      expect(await forwarded(PATH, BODY, {}, off.url)).toBe(BODY)
    } finally {
      await off.close()
    }
  })

  it('what there is no room for, announced or not', async () => {
    const full = await startSmallService(
      { workers: { count: 1 }, proxy: { anthropic_url: upstream.url } },
      { limits: { rewriteBytes: 100_000, queueBytes: () => 1000 } },
    )
    try {
      expect(await forwarded(PATH, BODY, {}, full.url)).toBe(BODY)
      await sendInParts(BODY, full.url)
      expect(upstream.last().body.toString()).toBe(BODY)
      const name = 'haversack_proxy_untouched_total{vendor="anthropic",reason="overloaded"}'
      expect(await counted(name, full.url)).toBe(2)
      expect(await counted('haversack_admitted_bytes', full.url)).toBe(0)
    } finally {
      await full.close()
    }
  })
})

/** In chunks, without a length. */
async function sendInParts(body: string, base = service.url): Promise<void> {
  const request = httpRequest(base + PATH, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
  })
  const answered = new Promise<void>((resolve, reject) => {
    request.once('error', reject).once('response', response => {
      response.resume().once('end', resolve)
    })
  })
  for (let at = 0; at < body.length; at += 900) {
    const part = body.slice(at, at + 900)
    await new Promise(resolve => request.write(part, resolve))
  }
  request.end()
  await answered
}

it('counts what it does', async () => {
  const rewritten = 'haversack_proxy_texts_total{vendor="openai",result="rewritten"}'
  const saved = 'haversack_proxy_tokens_saved_total{vendor="openai",by="encoder"}'
  // Figures of all results, whichever way they come.
  const names = ['haversack_tokens_saved_total{by="encoder"}', 'haversack_tokens_in_count']
  const figures = () => Promise.all([rewritten, saved, ...names].map(name => counted(name)))
  const before = await figures()
  const { path, body } = CONVERSATIONS['chat']!
  // Results that came before are counted no more.
  await forwarded(path, body(1).replaceAll('"list"', '"count"'))
  const [texts = 0, ofProxies = 0, ofAll = 0, results = 0] = (await figures()).map(
    (figure, at) => figure - before[at]!,
  )
  expect([texts, results]).toEqual([2, 2])
  expect(ofProxies).toBeGreaterThan(50)
  expect(ofAll).toBe(ofProxies)
})

describe('official clients', () => {
  const TEXT = records(7)

  it('of Anthropic send smaller results', async () => {
    upstream.answerWith(response => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end('{"id":"msg_1","type":"message","content":[]}')
    })
    const client = new Anthropic({
      baseURL: `${service.url}/anthropic`,
      apiKey: 'sk',
      maxRetries: 0,
    })
    const message = await client.messages.create({
      model: 'claude-x',
      max_tokens: 5,
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'list', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: TEXT }] },
      ],
    })
    expect(message.id).toBe('msg_1')
    expect(withoutResults(upstream.last().body.toString()).results[0]!.length).toBeLessThan(
      TEXT.length,
    )
  })

  it('of OpenAI send smaller results and read a stream', async () => {
    upstream.answerWith(response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(
        'data: {"id":"c","choices":[{"index":0,"delta":{"content":"hi"}}]}\n\ndata: [DONE]\n\n',
      )
    })
    const client = new OpenAI({ baseURL: `${service.url}/openai/v1`, apiKey: 'sk', maxRetries: 0 })
    const stream = await client.chat.completions.create({
      model: 'gpt-x',
      stream: true,
      messages: [
        {
          role: 'assistant',
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'list', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: TEXT },
      ],
    })
    const words: (string | null | undefined)[] = []
    for await (const { choices } of stream) words.push(choices[0]?.delta.content)
    expect(words).toEqual(['hi'])
    expect(withoutResults(upstream.last().body.toString()).results[0]!.length).toBeLessThan(
      TEXT.length,
    )
  })
})
