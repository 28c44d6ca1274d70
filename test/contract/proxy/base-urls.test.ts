import { createAnthropic } from '@ai-sdk/anthropic'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { httpUpstream } from '../../integration/proxy/stand-in.ts'
import { serviceBefore } from '../../integration/proxy/watched-service.ts'
import { CONVERSATIONS } from '../../integration/service/proxy-conversations.ts'

/** Base URLs with and without their version, of clients and of upstreams. */
const BASES = [
  ['', ''],
  ['', '/v1'],
  ['/v1', ''],
  ['/v1', '/v1'],
  ['/gateway', ''],
  ['/gateway/v1', '/v1'],
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

/** A service before a vendor, and what came there. */
async function vendorBehind(upstreamBase: string) {
  const paths: string[] = []
  const sizes: number[] = []
  const url = await httpUpstream(async (incoming, response) => {
    let size = 0
    for await (const chunk of incoming) size += chunk.length
    paths.push(incoming.url ?? '')
    sizes.push(size)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(incoming.url?.endsWith('completions') ? COMPLETION : MESSAGE))
  })
  const service = await serviceBefore(url.origin + upstreamBase)
  return { service, paths, sizes }
}

/** What a result of a tool is made of that is worth rewriting. */
const ROWS = JSON.stringify(
  Array.from({ length: 200 }, (_, id) => ({ id, name: `row ${id}`, state: 'open' })),
)

describe.each(BASES)('an upstream at "%s", a client with "%s"', (upstreamBase, clientBase) => {
  const named = upstreamBase.replace(/\/v1$/, '')

  it('of Anthropic is reached by both SDKs, and what they send is rewritten', async () => {
    const { service, paths, sizes } = await vendorBehind(upstreamBase)
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
    expect(paths).toEqual([`${named}/v1/messages`, `${named}/v1/messages`])
    for (const size of sizes) expect(size).toBeLessThan(ROWS.length)
  })

  it('of OpenAI is reached, and what is sent is rewritten', async () => {
    const { service, paths, sizes } = await vendorBehind(upstreamBase)
    const baseURL = `${service.url}/openai${clientBase}`
    const client = new OpenAI({ baseURL, apiKey: 'k', maxRetries: 0 })
    const body = JSON.parse(CONVERSATIONS['chat']!.body(2))
    await client.chat.completions.create({ ...body, stream: false })
    // Other upstreams than the vendor know paths without a version.
    const isLeft = upstreamBase === '/gateway' && clientBase === ''
    expect(paths).toEqual([`${named}${isLeft ? '' : '/v1'}/chat/completions`])
    expect(sizes[0]).toBeLessThan(JSON.stringify(body).length)
  })
})
