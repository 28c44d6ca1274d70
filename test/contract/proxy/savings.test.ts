import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { json, startSmallService } from '../../integration/service/harness.ts'
import { records } from '../../integration/service/proxy-conversations.ts'
import {
  type RecordingUpstream,
  recordingUpstream,
} from '../../integration/service/recording-upstream.ts'
import { eventually } from '../../support/eventually.ts'
import {
  ANTHROPIC_EVENTS,
  ANTHROPIC_FOUND,
  ANTHROPIC_MESSAGE,
  CHAT_COMPLETION,
  CHAT_EVENTS,
  CHAT_FOUND,
  events,
  RESPONSE,
  RESPONSE_FOUND,
  responseEvents,
} from '../../unit/core/conversation/usage/answers.ts'

let upstream: RecordingUpstream
let service: Awaited<ReturnType<typeof startSmallService>>

beforeAll(async () => {
  upstream = await recordingUpstream()
  service = await startSmallService({
    workers: { count: 1 },
    proxy: { anthropic_url: upstream.url, openai_url: upstream.url },
  })
  // As the vendors do: a stream where one is asked for, by what the path names.
  upstream.answerWith((response, { line, body }) => {
    const { stream } = JSON.parse(body.toString()) as { readonly stream?: boolean }
    const said = ANSWERS.find(({ path }) => line.includes(path))
    const type = stream === true ? 'text/event-stream' : 'application/json'
    response.writeHead(200, { 'content-type': type })
    response.end(stream === true ? said?.events : JSON.stringify(said?.whole))
  })
})

afterAll(async () => {
  await service.close()
  await upstream.close()
})

const ANSWERS = [
  { path: '/v1/messages', whole: ANTHROPIC_MESSAGE, events: events(ANTHROPIC_EVENTS) },
  { path: '/v1/chat/completions', whole: CHAT_COMPLETION, events: CHAT_EVENTS },
  { path: '/v1/responses', whole: RESPONSE, events: events(responseEvents('completed')) },
]

/** The last thing that an iterable gives. */
async function lastOf<T>(iterable: AsyncIterable<T>): Promise<T | undefined> {
  let last: T | undefined
  for await (const each of iterable) last = each
  return last
}

/** Each of the figures twice, as for an answer and a stream that say the same. */
function twice({ usage }: { readonly usage: Readonly<Record<string, number>> }) {
  return Object.fromEntries(
    Object.entries(usage).map(([kind, tokens]) => [`${kind}_tokens`, 2 * tokens]),
  )
}

interface SavingsRecord {
  readonly vendors: Readonly<Record<string, { readonly requests: number }>>
  readonly conversations: readonly Readonly<Record<string, unknown>>[]
}

/** What is told once a vendor's requests are so many: an answer is accounted for behind its end. */
async function savingsOf(vendor: string, requests: number): Promise<SavingsRecord> {
  return await eventually(async () => {
    const record = (await json(fetch(`${service.url}/v1/savings`))) as unknown as SavingsRecord
    expect(record.vendors[vendor]?.requests).toBe(requests)
    return record
  })
}

const CALL = { id: 'toolu_1', name: 'list', input: {} }
const SAVED = { removed: [{ tokens: expect.any(Number) }] }

describe('what the proxies saved', () => {
  it('has what the Anthropic client was told, in an answer and in a stream', async () => {
    const baseURL = `${service.url}/anthropic`
    const client = new Anthropic({ baseURL, apiKey: 'sk-ant-x', authToken: null, maxRetries: 0 })
    const request = {
      model: 'claude-x',
      max_tokens: 64,
      messages: [
        { role: 'user' as const, content: 'List them.' },
        { role: 'assistant' as const, content: [{ type: 'tool_use' as const, ...CALL }] },
        {
          role: 'user' as const,
          content: [{ type: 'tool_result' as const, tool_use_id: 'toolu_1', content: records(1) }],
        },
      ],
    }
    const { usage } = await client.messages.create(request)
    expect(usage.cache_read_input_tokens).toBe(ANTHROPIC_FOUND.usage.cache_read)
    const streamed = await client.messages.stream(request).finalMessage()
    expect(streamed.usage.output_tokens).toBe(ANTHROPIC_FOUND.usage.output)
    const { vendors, conversations } = await savingsOf('anthropic', 2)
    const expected = { without_usage: 0, usage: twice(ANTHROPIC_FOUND), ...SAVED }
    expect(vendors['anthropic']).toMatchObject(expected)
    const own = conversations.filter(({ vendor }) => vendor === 'anthropic')
    expect(own).toMatchObject([{ model: 'claude-sonnet-4-5', requests: 2, ...expected }])
  })

  it('has what the OpenAI client was told by both of its APIs', async () => {
    const baseURL = `${service.url}/openai/v1`
    const client = new OpenAI({ baseURL, apiKey: 'sk-x', maxRetries: 0 })
    const call = {
      id: CALL.id,
      type: 'function' as const,
      function: { name: 'list', arguments: '{}' },
    }
    const chat = {
      model: 'gpt-5',
      messages: [
        { role: 'user' as const, content: 'List them.' },
        { role: 'assistant' as const, tool_calls: [call] },
        { role: 'tool' as const, tool_call_id: CALL.id, content: records(2) },
      ],
    }
    const { usage } = await client.chat.completions.create(chat)
    expect(usage?.prompt_tokens_details?.cached_tokens).toBe(CHAT_FOUND.usage.cache_read)
    const stream_options = { include_usage: true }
    const chunk = await lastOf(
      await client.chat.completions.create({ ...chat, stream: true, stream_options }),
    )
    expect(chunk?.usage?.completion_tokens).toBe(CHAT_FOUND.usage.output)
    const chats = await savingsOf('openai', 2)
    expect(chats.vendors['openai']).toMatchObject({ usage: twice(CHAT_FOUND), ...SAVED })

    const responses = {
      model: 'gpt-5.1-codex',
      input: [
        { type: 'function_call' as const, call_id: CALL.id, name: 'list', arguments: '{}' },
        { type: 'function_call_output' as const, call_id: CALL.id, output: records(3) },
      ],
    }
    const response = await client.responses.create(responses)
    expect(response.usage?.output_tokens).toBe(RESPONSE_FOUND.usage.output)
    const last = await lastOf(await client.responses.create({ ...responses, stream: true }))
    expect(last?.type).toBe('response.completed')
    const all = await savingsOf('openai', 4)
    const own = all.conversations.filter(({ model }) => model === 'gpt-5.1-codex')
    expect(own).toMatchObject([{ requests: 2, usage: twice(RESPONSE_FOUND), ...SAVED }])
  })
})
