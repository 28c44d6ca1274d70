import { ApiError, GoogleGenAI } from '@google/genai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decode } from '../../../src/index.ts'
import { json, startSmallService } from '../../integration/service/harness.ts'
import { records } from '../../integration/service/proxy-conversations.ts'
import {
  type Answer,
  type RecordingUpstream,
  recordingUpstream,
} from '../../integration/service/recording-upstream.ts'
import { eventually } from '../../support/eventually.ts'

const MODEL = 'gemini-2.5-pro'
const ANSWER = {
  candidates: [
    { content: { role: 'model', parts: [{ text: 'Twelve.' }] }, finishReason: 'STOP', index: 0 },
  ],
  usageMetadata: {
    promptTokenCount: 900,
    cachedContentTokenCount: 500,
    candidatesTokenCount: 4,
    totalTokenCount: 904,
  },
  modelVersion: MODEL,
  anUnknownField: { z: 1 },
}
const OUTPUT = records(1)
const CONTENTS = [
  { role: 'user', parts: [{ text: 'Wie viele? 🕒' }] },
  { role: 'model', parts: [{ functionCall: { name: 'list', args: { page: 1 } } }] },
  { role: 'user', parts: [{ functionResponse: { name: 'list', response: { output: OUTPUT } } }] },
]

/** Both kinds of answers, by what the path names. */
const answerGemini: Answer = (response, { line }) => {
  const isStream = line.includes(':streamGenerateContent')
  const type = isStream ? 'text/event-stream' : 'application/json'
  response.writeHead(200, { 'content-type': type })
  const text = JSON.stringify(line.includes(':countTokens') ? { totalTokens: 7 } : ANSWER)
  response.end(isStream ? `data: ${text}\r\n\r\n` : text)
}

let upstream: RecordingUpstream
let service: Awaited<ReturnType<typeof startSmallService>>
let client: GoogleGenAI

beforeAll(async () => {
  upstream = await recordingUpstream()
  upstream.answerWith(answerGemini)
  service = await startSmallService({
    workers: { count: 1 },
    proxy: { upstreams: [{ name: 'google', url: upstream.url, dialect: 'gemini' }] },
  })
  const baseUrl = `${service.url}/up/google`
  client = new GoogleGenAI({ apiKey: 'AIza-x', httpOptions: { baseUrl } })
})

afterAll(async () => {
  await service.close()
  await upstream.close()
})

/** What the upstream got as the output of the function. */
function sentOutput(): string {
  const { contents } = JSON.parse(upstream.last().body.toString())
  expect(contents.slice(0, 2)).toEqual(CONTENTS.slice(0, 2))
  return contents[2].parts[0].functionResponse.response.output
}

describe('the client of Gemini', () => {
  it('gets its answers, in one piece and as a stream, for smaller results', async () => {
    const whole = await client.models.generateContent({ model: MODEL, contents: CONTENTS })
    expect(whole.text).toBe('Twelve.')
    expect(upstream.last().line).toBe(`POST /v1/models/${MODEL}:generateContent`)
    expect(upstream.last().rawHeaders).toContain('AIza-x')
    const sent = sentOutput()
    expect(sent.length).toBeLessThan(OUTPUT.length / 2)
    const { content } = decode({ content: sent, format: 'tree@2' })
    expect(JSON.parse(content)).toEqual(JSON.parse(OUTPUT))

    const texts: string[] = []
    const stream = await client.models.generateContentStream({ model: MODEL, contents: CONTENTS })
    for await (const chunk of stream) texts.push(chunk.text ?? '')
    expect(texts).toEqual(['Twelve.'])
    expect(sentOutput()).toBe(sent)
    const { totalTokens } = await client.models.countTokens({ model: MODEL, contents: CONTENTS })
    expect(totalTokens).toBe(7)
    expect(sentOutput()).toBe(sent)
  })

  it('is billed as it was told, requests to count tokens apart', async () => {
    const { vendors, conversations } = await eventually(async () => {
      const savings = await json(fetch(`${service.url}/v1/savings`))
      expect(savings).toMatchObject({ vendors: { google: { requests: 2 } } })
      return savings as { readonly vendors: object; readonly conversations: readonly object[] }
    })
    const usage = { uncached_tokens: 800, cache_read_tokens: 1_000, output_tokens: 8 }
    expect(vendors).toMatchObject({ google: { usage, removed: [{ tokens: expect.any(Number) }] } })
    expect(conversations).toMatchObject([{ vendor: 'google', model: MODEL, requests: 2 }])
  })

  it('gets errors of the vendor as they are, and ours in the vendor’s form', async () => {
    const error = { code: 429, message: 'Slow down', status: 'RESOURCE_EXHAUSTED' }
    upstream.answerWith(response => {
      response.writeHead(429, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error }))
    })
    const asked = client.models.generateContent({ model: MODEL, contents: CONTENTS })
    await expect(asked).rejects.toThrow(
      new ApiError({ message: JSON.stringify({ error }), status: 429 }),
    )
    upstream.answerWith(response => response.destroy())
    const broken = client.models.generateContent({ model: MODEL, contents: CONTENTS })
    await expect(broken).rejects.toMatchObject({
      status: 502,
      message: expect.stringContaining('"status":"INTERNAL"'),
    })
    upstream.answerWith(answerGemini)
  })

  it('can send ten megabytes, and leave', async () => {
    const parts = [{ text: 'x'.repeat(10_000_000) }]
    const large = { model: MODEL, contents: [{ role: 'user', parts }, ...CONTENTS.slice(1)] }
    expect((await client.models.generateContent(large)).text).toBe('Twelve.')
    expect(upstream.last().body.length).toBeGreaterThan(10_000_000)
    const left = Promise.withResolvers<void>()
    upstream.answerWith(response => void response.once('close', () => left.resolve()))
    const { signal, abort } = withAbort()
    const asked = client.models.generateContent({
      model: MODEL,
      contents: CONTENTS,
      config: { abortSignal: signal },
    })
    await eventually(async () => expect(upstream.requests).toHaveLength(1))
    abort()
    await expect(asked).rejects.toThrow()
    await left.promise
  })
})

function withAbort() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}
