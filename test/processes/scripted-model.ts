import type { Answer } from '../integration/service/recording-upstream.ts'

/** What the model says in the end. */
export const LAST_WORDS = 'Those with the state lost.'

const NAME = 'list_orders'
const ARGS = { customer: 'Ada' }

interface ModelRequest {
  readonly messages?: readonly { readonly role: string; readonly content: unknown }[]
  readonly contents?: readonly object[]
}

/**
 * A model behind the APIs of OpenAI's completions, of Anthropic and of Gemini: it calls a tool once,
 * and then has the last word.
 */
export const answerByScript: Answer = (response, { line, body }) => {
  if (!line.startsWith('POST ')) {
    response.writeHead(404).end()
    return
  }
  const { messages, contents = [] } = JSON.parse(body.toString()) as ModelRequest
  const last = messages?.at(-1)
  const isLast = last?.role === 'tool' || Array.isArray(last?.content) || contents.length > 1
  const speak =
    messages === undefined ? ofGemini : line.includes('/messages') ? ofAnthropic : ofOpenAi
  const answer = speak(isLast, body)
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(answer))
}

function ofOpenAi(isLast: boolean, body: Buffer): object {
  const called = { name: NAME, arguments: JSON.stringify(ARGS) }
  const call = { id: 'call_1', type: 'function', function: called }
  const choice = isLast
    ? { message: { role: 'assistant', content: LAST_WORDS }, finish_reason: 'stop' }
    : {
        message: { role: 'assistant', content: null, tool_calls: [call] },
        finish_reason: 'tool_calls',
      }
  const usage = { prompt_tokens: body.length >> 2, completion_tokens: 5, total_tokens: 5 }
  return {
    ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'gpt-5', usage },
    choices: [{ index: 0, ...choice }],
  }
}

function ofAnthropic(isLast: boolean, body: Buffer): object {
  const content = isLast
    ? [{ type: 'text', text: LAST_WORDS }]
    : [{ type: 'tool_use', id: 'toolu_1', name: NAME, input: ARGS }]
  return {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5', content },
    ...{ stop_reason: isLast ? 'end_turn' : 'tool_use', stop_sequence: null },
    usage: { input_tokens: body.length >> 2, output_tokens: 5 },
  }
}

function ofGemini(isLast: boolean, body: Buffer): object {
  const part = isLast ? { text: LAST_WORDS } : { functionCall: { name: NAME, args: ARGS } }
  const usageMetadata = { promptTokenCount: body.length >> 2, candidatesTokenCount: 5 }
  const content = { role: 'model', parts: [part] }
  return { candidates: [{ content, finishReason: 'STOP', index: 0 }], usageMetadata }
}
