import { expect, it } from 'vitest'
import type { RouteName } from '../../../../../src/core/dialects/lookup.ts'
import { scanned } from './scanned.ts'

const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }
const output = { type: 'function_call_output', call_id: 'c', output: 'x' }

it.each<[RouteName, object, number]>([
  ['anthropic_messages', { messages: [] }, 0],
  ['anthropic_messages', { messages: says('user', 'assistant', 'user', 'assistant', 'user') }, 2],
  ['bedrock_converse', { messages: says('user', 'assistant', 'user') }, 1],
  ['gemini_generate', { contents: says('user', 'model', 'user', 'model') }, 2],
  ['openai_chat', { messages: says('system', 'user', 'assistant', 'tool', 'tool', 'user') }, 1],
  ['openai_chat', { messages: says('user', 'assistant', 'assistant', 'tool', 'assistant') }, 2],
  ['openai_responses', { input: [...says('user'), { type: 'reasoning' }, call, output] }, 1],
  ['openai_responses', { input: [call, call, output, output, call, output] }, 2],
  ['openai_responses', { input: [...says('user', 'assistant', 'developer', 'assistant')] }, 2],
  ['openai_responses', { input: 'Go on.' }, 0],
])('%s %j: the model has spoken %i times', (route, body, times) => {
  expect(scanned(route, { model: 'm', ...body })?.modelTurns).toBe(times)
})

function says(...roles: readonly string[]): readonly object[] {
  return roles.map(role => ({ role, content: 'x' }))
}
