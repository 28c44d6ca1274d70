import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startSmallService } from '../../integration/service/harness.ts'
import { records } from '../../integration/service/proxy-conversations.ts'
import {
  type RecordingUpstream,
  recordingUpstream,
} from '../../integration/service/recording-upstream.ts'
import { FULL_RUNS } from '../../support/runs.ts'
import {
  ANTHROPIC_MESSAGE,
  CHAT_COMPLETION,
  RESPONSE,
} from '../../unit/core/conversation/usage/answers.ts'

/** The size of a request; a short run shows the same with fewer. */
const MEGABYTES = FULL_RUNS ? 10 : 2

/** Text full of escapes, and an image, as clients send them. */
const PROSE = Array.from(
  { length: 6_000 * MEGABYTES },
  (_, n) => `${n * 7919} says: "it’s ${n % 97}\\${n}"`,
).join('\n')
const IMAGE = Buffer.from(
  Array.from({ length: 600_000 * MEGABYTES }, (_, n) => (n * n) % 251),
).toString('base64')

let upstream: RecordingUpstream
let service: Awaited<ReturnType<typeof startSmallService>>

beforeAll(async () => {
  upstream = await recordingUpstream()
  service = await startSmallService({
    workers: { count: 1 },
    proxy: { anthropic_url: upstream.url, openai_url: upstream.url },
  })
})
beforeEach(() =>
  upstream.answerWith((response, { line }) => {
    const answers = { chat: CHAT_COMPLETION, responses: RESPONSE }
    const said = Object.entries(answers).find(([name]) => line.includes(name))?.[1]
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(said ?? ANTHROPIC_MESSAGE))
  }),
)
afterAll(async () => {
  await service.close()
  await upstream.close()
})

/**
 * What the upstream got: with the results that were made smaller put back, the very bytes that the
 * client says.
 */
function expectSmaller(said: object, before: string): void {
  const got = upstream.last().body.toString()
  const sent = JSON.stringify(said)
  expect(sent.length).toBeGreaterThan(MEGABYTES * 1_000_000)
  expect(got.length).toBeLessThan(sent.length)
  const [head, tail] = sent.split(JSON.stringify(before)) as [string, string]
  expect(got.startsWith(head)).toBe(true)
  expect(got.endsWith(tail)).toBe(true)
  const literal = got.slice(head.length, -tail.length)
  expect(JSON.parse(literal).length).toBeLessThan(before.length)
}

const call = { id: 'toolu_1', name: 'list', input: {} }

describe(`a request of more than ${MEGABYTES} megabytes`, () => {
  it('of the Anthropic client arrives, with smaller results', async () => {
    const baseURL = `${service.url}/anthropic`
    const client = new Anthropic({ baseURL, apiKey: 'sk-ant-x', authToken: null, maxRetries: 0 })
    const source = { type: 'base64' as const, media_type: 'image/png' as const, data: IMAGE }
    const content = [
      { type: 'text' as const, text: records(5) },
      { type: 'image' as const, source },
    ]
    const params = {
      model: 'claude-sonnet-4-5',
      max_tokens: 64,
      messages: [
        { role: 'user' as const, content: PROSE },
        { role: 'assistant' as const, content: [{ type: 'tool_use' as const, ...call }] },
        {
          role: 'user' as const,
          content: [{ type: 'tool_result' as const, tool_use_id: call.id, content }],
        },
      ],
    }
    const message = await client.messages.create(params)
    expect(message.id).toBe(ANTHROPIC_MESSAGE.id)
    expectSmaller(params, records(5))
  })

  it('of the OpenAI client arrives by both of its APIs, with smaller results', async () => {
    const baseURL = `${service.url}/openai/v1`
    const client = new OpenAI({ baseURL, apiKey: 'sk-x', maxRetries: 0 })
    const asked = { type: 'function' as const, function: { name: 'list', arguments: '{}' } }
    const image_url = { url: `data:image/png;base64,${IMAGE}` }
    const chat = {
      model: 'gpt-5',
      messages: [
        { role: 'user' as const, content: PROSE },
        { role: 'user' as const, content: [{ type: 'image_url' as const, image_url }] },
        { role: 'assistant' as const, tool_calls: [{ id: call.id, ...asked }] },
        { role: 'tool' as const, tool_call_id: call.id, content: records(6) },
      ],
    }
    const completion = await client.chat.completions.create(chat)
    expect(completion.id).toBe(CHAT_COMPLETION.id)
    expectSmaller(chat, records(6))

    const responses = {
      model: 'gpt-5.1-codex',
      input: [
        { role: 'user' as const, content: PROSE },
        {
          role: 'user' as const,
          content: [
            { type: 'input_image' as const, detail: 'auto' as const, image_url: image_url.url },
          ],
        },
        { type: 'function_call' as const, call_id: call.id, name: 'list', arguments: '{}' },
        { type: 'function_call_output' as const, call_id: call.id, output: records(7) },
      ],
    }
    const response = await client.responses.create(responses)
    expect(response.id).toBe(RESPONSE.id)
    expectSmaller(responses, records(7))
  })
})
