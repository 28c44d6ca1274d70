import { createAnthropic } from '@ai-sdk/anthropic'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestService } from '../../integration/proxy/watched-service.ts'
import { startSmallService } from '../../integration/service/harness.ts'
import { CONVERSATIONS } from '../../integration/service/proxy-conversations.ts'
import {
  type RecordingUpstream,
  recordingUpstream,
} from '../../integration/service/recording-upstream.ts'

/** Base URLs with and without their version: of upstreams, and of the clients of each. */
const BASES = [
  ['', ['', '/v1']],
  ['/v1', ['', '/v1']],
  ['/gateway', ['']],
  ['/gateway/v1', ['/v1']],
] as const

const MESSAGE = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-x' },
  ...{ content: [{ type: 'text', text: 'So.' }], stop_reason: 'end_turn' },
  usage: { input_tokens: 3, output_tokens: 5 },
}
const COMPLETION = {
  ...{ id: 'c', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'So.' }, finish_reason: 'stop' }],
}

/** Answers all requests from now on, and forgets those before. */
function answerWith(upstream: RecordingUpstream, answer: object) {
  upstream.answerWith(response => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer))
  })
}

/** What a result of a tool is made of that is worth rewriting. */
const ROWS = JSON.stringify(
  Array.from({ length: 200 }, (_, id) => ({ id, name: `row ${id}`, state: 'open' })),
)

describe.each(BASES)('an upstream at "%s"', (upstreamBase, clientBases) => {
  const named = upstreamBase.replace(/\/v1$/, '')
  let upstream: RecordingUpstream
  let service: TestService

  beforeAll(async () => {
    upstream = await recordingUpstream()
    const url = upstream.url + upstreamBase
    service = await startSmallService({ proxy: { anthropic_url: url, openai_url: url } })
  })
  afterAll(async () => {
    await service.close()
    await upstream.close()
  })

  it.each(clientBases)(
    'of Anthropic is reached by both SDKs with "%s", and what they send is rewritten',
    async clientBase => {
      answerWith(upstream, MESSAGE)
      const baseURL = `${service.url}/anthropic${clientBase}`
      const plain = new Anthropic({ baseURL, apiKey: 'k', authToken: null, maxRetries: 0 })
      const call = { type: 'tool_use' as const, id: 't', name: 'list', input: {} }
      const result = { type: 'tool_result' as const, tool_use_id: 't', content: ROWS }
      await plain.messages.create({
        model: 'claude-x',
        max_tokens: 9,
        messages: [
          { role: 'user', content: 'List.' },
          { role: 'assistant', content: [call] },
          { role: 'user', content: [result] },
        ],
      })
      const ai = createAnthropic({ baseURL, apiKey: 'k' })('claude-x')
      const output = { type: 'text' as const, value: ROWS }
      const toolCall = { type: 'tool-call' as const, toolCallId: 't', toolName: 'list', input: {} }
      await ai.doGenerate({
        prompt: [
          { role: 'user', content: [{ type: 'text', text: 'List.' }] },
          { role: 'assistant', content: [toolCall] },
          {
            role: 'tool',
            content: [{ type: 'tool-result', toolCallId: 't', toolName: 'list', output }],
          },
        ],
      })
      const line = `POST ${named}/v1/messages`
      expect(upstream.requests.map(request => request.line)).toEqual([line, line])
      for (const { body } of upstream.requests) expect(body.length).toBeLessThan(ROWS.length)
    },
  )

  it.each(clientBases)(
    'of OpenAI is reached with "%s", and what is sent is rewritten',
    async clientBase => {
      answerWith(upstream, COMPLETION)
      const baseURL = `${service.url}/openai${clientBase}`
      const client = new OpenAI({ baseURL, apiKey: 'k', maxRetries: 0 })
      const body = JSON.parse(CONVERSATIONS['chat']!.body(2))
      await client.chat.completions.create({ ...body, stream: false })
      // Other upstreams than the vendor know paths without a version.
      const isLeft = upstreamBase === '/gateway' && clientBase === ''
      const line = `POST ${named}${isLeft ? '' : '/v1'}/chat/completions`
      expect(upstream.requests.map(request => request.line)).toEqual([line])
      expect(upstream.last().body.length).toBeLessThan(JSON.stringify(body).length)
    },
  )
})
