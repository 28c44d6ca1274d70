import { EventStreamCodec } from '@smithy/eventstream-codec'
import type { Answer } from '../../integration/service/recording-upstream.ts'

/** The service's own key; clients have others. */
export const KEY = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
export const CREDENTIALS = { accessKeyId: 'CLIENT', secretAccessKey: 'of the client' }
export const MODEL = 'anthropic.claude-sonnet-4-5-v1:0'

export const MESSAGE = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: MODEL },
  content: [{ type: 'text', text: 'Twelve.' }],
  ...{ stop_reason: 'end_turn', stop_sequence: null, an_unknown_field: { z: 1 } },
  usage: { input_tokens: 9, output_tokens: 2 },
}
const EVENTS = [
  { type: 'message_start', message: { ...MESSAGE, content: [], stop_reason: null } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Twelve.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
]
export const CONVERSED = {
  output: { message: { role: 'assistant', content: [{ text: 'Twelve.' }] } },
  ...{ stopReason: 'end_turn', metrics: { latencyMs: 3 }, anUnknownField: 1 },
  usage: { inputTokens: 9, outputTokens: 2, totalTokens: 11 },
}
export const COMPLETION = {
  ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'gpt-x', an_unknown_field: 1 },
  choices: [
    { index: 0, message: { role: 'assistant', content: 'Twelve.' }, finish_reason: 'stop' },
  ],
  usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
}

const codec = new EventStreamCodec(
  bytes => Buffer.from(bytes).toString(),
  text => Buffer.from(text),
)

/** A frame of a binary event stream. */
export function frame(name: string, payload: object): Uint8Array {
  const of = (value: string) => ({ type: 'string' as const, value })
  const headers = {
    ':event-type': of(name),
    ':content-type': of('application/json'),
    ':message-type': of('event'),
  }
  return codec.encode({ headers, body: Buffer.from(JSON.stringify(payload)) })
}

/** Answers as clouds do, by what the path names; streams in pieces that begin and end anywhere. */
export const answerAsCloud: Answer = (response, { line }) => {
  const [, path = ''] = line.split(' ')
  const binary = (frames: readonly Uint8Array[]) => {
    response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' })
    const bytes = Buffer.concat(frames)
    for (let at = 0; at < bytes.length; at += 61) response.write(bytes.subarray(at, at + 61))
    response.end()
  }
  const events = (list: readonly (object | string)[]) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const each of list) {
      const name = typeof each === 'object' && 'type' in each ? `event: ${each.type}\n` : ''
      const data = typeof each === 'string' ? each : JSON.stringify(each)
      response.write(`${name}data: ${data}\n\n`)
    }
    response.end()
  }
  const json = (value: object) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(value))
  }
  if (path.endsWith('/converse')) return json(CONVERSED)
  if (path.endsWith('/converse-stream')) {
    return binary([
      frame('messageStart', { role: 'assistant' }),
      frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Twelve.' } }),
      frame('messageStop', { stopReason: 'end_turn' }),
      frame('metadata', { usage: CONVERSED.usage, metrics: { latencyMs: 3 } }),
    ])
  }
  if (path.endsWith('/invoke-with-response-stream')) {
    return binary(
      EVENTS.map(event => {
        const bytes = Buffer.from(JSON.stringify(event)).toString('base64')
        return frame('chunk', { bytes })
      }),
    )
  }
  if (path.includes(':streamRawPredict')) return events(EVENTS)
  if (!path.includes('/chat/completions')) return json(MESSAGE)
  return json(COMPLETION)
}
