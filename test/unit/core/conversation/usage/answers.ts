import type { Message, RawMessageStreamEvent } from '@anthropic-ai/sdk/resources/messages'
import type OpenAI from 'openai'

/** The clients' own types, so that what stands here is what the vendors say. */
type AnthropicUsage = Message['usage']

export const ANTHROPIC_USAGE: AnthropicUsage = {
  input_tokens: 21,
  output_tokens: 88,
  cache_read_input_tokens: 18_000,
  cache_creation_input_tokens: 1_200,
  cache_creation: { ephemeral_5m_input_tokens: 1_000, ephemeral_1h_input_tokens: 200 },
  inference_geo: null,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: 'standard',
  speed: 'standard',
}

/** What the figures above are in our words. */
export const ANTHROPIC_FOUND = {
  model: 'claude-sonnet-4-5',
  usage: {
    uncached: 21,
    cache_read: 18_000,
    cache_write: 1_000,
    cache_write_long: 200,
    output: 88,
  },
}

const TOOL_USE = {
  type: 'tool_use',
  id: 'toolu_1',
  name: 'count',
  input: { usage: { input_tokens: 7_777 }, model: 'no' },
}

export const ANTHROPIC_MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'They said: "usage":{"input_tokens":1} \\' }, TOOL_USE],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: ANTHROPIC_USAGE,
}

export function events(data: readonly object[]): string {
  return data
    .map(
      each => `${'type' in each ? `event: ${each.type}\n` : ''}data: ${JSON.stringify(each)}\n\n`,
    )
    .join('')
}

/** The first figures are early ones; `null` in the last says nothing. */
export const ANTHROPIC_EVENTS = [
  {
    type: 'message_start',
    message: { ...ANTHROPIC_MESSAGE, content: [], usage: { ...ANTHROPIC_USAGE, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'ping' },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '\n"usage":{' } },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null, container: null, stop_details: null },
    usage: {
      input_tokens: 21,
      cache_creation_input_tokens: null,
      cache_read_input_tokens: 18_000,
      output_tokens: 88,
      output_tokens_details: null,
      server_tool_use: null,
    },
  },
  { type: 'message_stop' },
] satisfies readonly (Partial<RawMessageStreamEvent> | object)[]

export const CHAT_USAGE: OpenAI.CompletionUsage = {
  prompt_tokens: 2_006,
  completion_tokens: 300,
  total_tokens: 2_306,
  prompt_tokens_details: { cached_tokens: 1_920, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 64 },
}

export const CHAT_FOUND = {
  model: 'gpt-5-2025-08-07',
  usage: { uncached: 86, cache_read: 1_920, cache_write: 0, cache_write_long: 0, output: 300 },
}

export const CHAT_COMPLETION = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-5-2025-08-07',
  choices: [{ index: 0, message: { role: 'assistant', content: 'é' }, finish_reason: 'stop' }],
  usage: CHAT_USAGE,
}

const CHUNK = { ...CHAT_COMPLETION, object: 'chat.completion.chunk', usage: null }

/** As with `include_usage`: the figures are in a chunk without choices at the end. */
export const CHAT_EVENTS = `${events([
  { ...CHUNK, choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] } as object,
  { ...CHUNK, choices: [{ index: 0, delta: { content: 'é' } }] } as object,
  { ...CHUNK, choices: [], usage: CHAT_USAGE } as object,
])}data: [DONE]\n\n`

export const RESPONSE_USAGE: OpenAI.Responses.ResponseUsage = {
  input_tokens: 5_000,
  input_tokens_details: {
    cached_tokens: 3_072,
    cache_write_tokens: 1_024,
    cache_write_tokens_details: { ttl_12h_tokens: 24, ttl_30m_tokens: 1_000 },
  },
  output_tokens: 40,
  output_tokens_details: { reasoning_tokens: 8 },
  total_tokens: 5_040,
}

export const RESPONSE_FOUND = {
  model: 'gpt-5.1-codex',
  usage: { uncached: 904, cache_read: 3_072, cache_write: 1_000, cache_write_long: 24, output: 40 },
}

export const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  error: null,
  model: 'gpt-5.1-codex',
  output: [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [] }],
  usage: RESPONSE_USAGE,
}

/** @param last `completed`, `incomplete` or `failed` */
export function responseEvents(last: string) {
  const begun = { ...RESPONSE, status: 'in_progress', output: [], usage: null }
  return [
    { type: 'response.created', sequence_number: 0, response: begun },
    { type: 'response.output_text.delta', sequence_number: 1, delta: 'usage' },
    { type: `response.${last}`, sequence_number: 2, response: { ...RESPONSE, status: last } },
  ]
}
