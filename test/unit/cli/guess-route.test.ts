import { describe, expect, it } from 'vitest'
import { guessRoute } from '../../../src/cli/proxy/guess-route.ts'

const user = { role: 'user', content: 'hi' }
const messages = (...list: object[]) => ({ messages: [user, ...list] })

describe('guessRoute', () => {
  it.each([
    [messages({ role: 'user', content: [{ type: 'tool_result' }] }), 'anthropic_messages'],
    [messages({ role: 'assistant', content: [{ type: 'tool_use' }] }), 'anthropic_messages'],
    [{ ...messages(), tools: [{ name: 'x', input_schema: {} }] }, 'anthropic_messages'],
    [{ ...messages(), system: 'be brief' }, 'anthropic_messages'],
    [messages({ role: 'tool', content: '' }), 'openai_chat'],
    [messages({ role: 'function', name: 'x' }), 'openai_chat'],
    [messages({ role: 'developer', content: '' }), 'openai_chat'],
    [messages({ role: 'assistant', tool_calls: [] }), 'openai_chat'],
    [{ ...messages(), tools: [{ type: 'function', function: {} }] }, 'openai_chat'],
    [{ ...messages(), system: [{ type: 'text', text: 'be brief' }] }, 'anthropic_messages'],
    [{ input: 'hi' }, 'openai_responses'],
    [{ contents: [{ parts: [{ text: 'hi' }] }] }, 'gemini_generate'],
    [{ ...messages(), system: [{ text: 'be brief' }], toolConfig: {} }, 'bedrock_converse'],
    [messages({ role: 'user', content: [{ toolResult: {} }] }), 'bedrock_converse'],
    [messages({ role: 'assistant', content: [{ toolUse: {} }] }), 'bedrock_converse'],
    [{ input: [user], tools: [{ type: 'function', name: 'x' }] }, 'openai_responses'],
  ])('knows %j', (body, route) => {
    expect(guessRoute(body)?.route).toBe(route)
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
