import { describe, expect, it } from 'vitest'
import { guessRoute } from '../../../src/cli/proxy/check-request.ts'
import { bodyRules, ROUTE_NAMES } from '../../../src/core/dialects/lookup.ts'

const user = { role: 'user', content: 'hi' }
const messages = (...list: object[]) => ({ messages: [user, ...list] })

it('each shape of requests has a name for `--route`', () => {
  const names = ROUTE_NAMES.map(route => bodyRules(route).command)
  expect(names).toEqual(['messages', 'chat', 'responses', 'gemini', 'converse'])
})

describe('guessRoute', () => {
  it.each([
    [
      messages({ role: 'user', content: [{ type: 'tool_result' }] }),
      'anthropic_messages',
      'blocks of type tool_use or tool_result',
    ],
    [
      messages({ role: 'assistant', content: [{ type: 'tool_use' }] }),
      'anthropic_messages',
      'blocks of type tool_use or tool_result',
    ],
    [
      { ...messages(), tools: [{ name: 'x', input_schema: {} }] },
      'anthropic_messages',
      'tools with input_schema',
    ],
    [{ ...messages(), system: 'be brief' }, 'anthropic_messages', 'system beside messages'],
    [
      messages({ role: 'tool', content: '' }),
      'openai_chat',
      'messages of the role tool or function',
    ],
    [
      messages({ role: 'function', name: 'x' }),
      'openai_chat',
      'messages of the role tool or function',
    ],
    [
      messages({ role: 'developer', content: '' }),
      'openai_chat',
      'messages of the role system or developer',
    ],
    [messages({ role: 'assistant', tool_calls: [] }), 'openai_chat', 'tool_calls in messages'],
    [
      { ...messages(), tools: [{ type: 'function', function: {} }] },
      'openai_chat',
      'tools with function',
    ],
    [
      { ...messages(), system: [{ type: 'text', text: 'be brief' }] },
      'anthropic_messages',
      'system beside messages',
    ],
    [{ input: 'hi' }, 'openai_responses', 'input'],
    [{ contents: [{ parts: [{ text: 'hi' }] }] }, 'gemini_generate', 'contents'],
    [
      { ...messages(), system: [{ text: 'be brief' }], toolConfig: {} },
      'bedrock_converse',
      'toolConfig',
    ],
    [
      messages({ role: 'user', content: [{ toolResult: {} }] }),
      'bedrock_converse',
      'blocks with toolUse or toolResult',
    ],
    [
      messages({ role: 'assistant', content: [{ toolUse: {} }] }),
      'bedrock_converse',
      'blocks with toolUse or toolResult',
    ],
    [{ input: [user], tools: [{ type: 'function', name: 'x' }] }, 'openai_responses', 'input'],
    [
      { ...messages(), tools: [{ type: 'custom' }, { function: {} }] },
      'openai_chat',
      'tools with function',
    ],
  ])('knows %j', (body, route, sign) => {
    expect(guessRoute(body)).toEqual({ route, sign })
  })

  it.each([
    [messages()],
    [{}],
    [[]],
    [null],
    ['input'],
    [{ messages: [null, 7, [user]], tools: 'none' }],
    [{ ...messages({ role: 'tool' }), input: [] }],
    [{ ...messages(), system: [{ text: 'be brief' }] }],
    [{ ...messages({ role: 'system' }), system: 'be brief' }],
  ])('does not know %j', body => {
    expect(guessRoute(body)).toBeNull()
  })
})
