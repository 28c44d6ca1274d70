import { describe, expect, it } from 'vitest'
import type { RouteName } from '../../../../../src/core/dialects/lookup.ts'
import { scanned } from './scanned.ts'

const DEFERRED = { defer_loading: true }
const REQUESTS: Readonly<Record<RouteName, object>> = {
  anthropic_messages: { messages: [], tools: [{ name: 'list' }, { name: 'fetch', ...DEFERRED }] },
  openai_chat: {
    messages: [],
    tools: [{ function: { name: 'list' } }, { custom: { name: 'fetch' } }],
  },
  openai_responses: {
    input: [],
    tools: [{ name: 'list' }, { type: 'namespace', name: 'own', tools: [{ name: 'fetch' }] }],
  },
  gemini_generate: { contents: [], tools: [{ functionDeclarations: [{ name: 'list' }] }] },
  bedrock_converse: { messages: [] },
}

function callable(route: RouteName, more: object): readonly string[] | undefined {
  return scanned(route, { ...REQUESTS[route], ...more })?.callable
}

const both = ['list', 'fetch']

describe('the model may call', () => {
  it.each<[string, RouteName, object]>([
    ['with no choice', 'anthropic_messages', {}],
    ['with no choice', 'openai_chat', { tool_choice: null }],
    ['if it chooses', 'anthropic_messages', { tool_choice: { type: 'auto' } }],
    ['if it must call any', 'anthropic_messages', { tool_choice: { type: 'any' } }],
    ['if it chooses', 'openai_chat', { tool_choice: 'auto', function_call: 'auto' }],
    ['if it must call any', 'openai_chat', { tool_choice: 'required' }],
    ['in Mistral’s spelling', 'openai_chat', { tool_choice: 'any' }],
  ])('all tools %s: %s %j', (_, route, more) => {
    expect(callable(route, more)).toEqual(both)
  })

  it.each<[string, RouteName, unknown]>([
    ['if it must call none', 'anthropic_messages', { type: 'none' }],
    ['by an unknown type', 'anthropic_messages', { type: 'later' }],
    ['if it must call none', 'openai_chat', 'none'],
    ['of a list without any', 'openai_chat', { type: 'allowed_tools', allowed_tools: {} }],
    ['if it must call none', 'openai_responses', 'none'],
    ['if a hosted one is forced', 'openai_responses', { type: 'file_search' }],
  ])('none %s: %s %j', (_, route, tool_choice) => {
    expect(callable(route, { tool_choice })).toEqual([])
  })

  it.each<[RouteName, unknown]>([
    ['anthropic_messages', { type: 'tool', name: 'list' }],
    ['openai_chat', { type: 'function', function: { name: 'list' } }],
    [
      'openai_chat',
      {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'list' } }] },
      },
    ],
    ['openai_responses', { type: 'function', name: 'list' }],
    ['openai_responses', { type: 'allowed_tools', mode: 'auto', tools: [{ name: 'list' }] }],
  ])('one tool if the choice names it: %s %j', (route, tool_choice) => {
    expect(callable(route, { tool_choice })).toEqual(['list'])
  })

  it('the tools of a namespace that is allowed, and deferred ones that are named', () => {
    const tools = [{ type: 'namespace', name: 'own' }]
    const tool_choice = { type: 'allowed_tools', mode: 'auto', tools }
    expect(callable('openai_responses', { tool_choice })).toEqual(['own', 'fetch'])
    const named = { type: 'tool', name: 'fetch' }
    expect(callable('anthropic_messages', { tool_choice: named })).toEqual(['fetch'])
  })

  it('what the old spelling of chats says', () => {
    expect(callable('openai_chat', { function_call: 'none' })).toEqual([])
    expect(callable('openai_chat', { function_call: { name: 'list' } })).toEqual(['list'])
  })

  it.each<[object, readonly string[]]>([
    [{ toolConfig: { functionCallingConfig: { mode: 'AUTO' } } }, ['list']],
    [{ tool_config: { function_calling_config: { mode: 'VALIDATED' } } }, ['list']],
    [{ toolConfig: { functionCallingConfig: {} } }, ['list']],
    [{ toolConfig: { functionCallingConfig: { mode: 'NONE' } } }, []],
    [{ tool_config: { function_calling_config: { mode: 3 } } }, []],
    [{ tool_config: { function_calling_config: { mode: 10 } } }, []],
    [{ toolConfig: {}, tool_config: {} }, []],
    [{ toolConfig: { functionCallingConfig: { allowedFunctionNames: ['x'] } } }, []],
    [{ toolConfig: { functionCallingConfig: { allowed_function_names: ['list'] } } }, ['list']],
  ])('by Gemini’s %j: %j', (more, expected) => {
    expect(callable('gemini_generate', more)).toEqual(expected)
  })

  it.each<[unknown, readonly string[]]>([
    [undefined, ['list']],
    [{ auto: {} }, ['list']],
    [{ any: {} }, ['list']],
    [{ tool: { name: 'list' } }, ['list']],
    [{ tool: { name: 'x' } }, []],
    [{ later: {} }, []],
  ])('by Converse’s %j: %j', (toolChoice, expected) => {
    const toolConfig = { tools: [{ toolSpec: { name: 'list' } }], toolChoice }
    expect(callable('bedrock_converse', { toolConfig })).toEqual(expected)
  })

  it('nothing if the choice is not clear', () => {
    const body = `{"messages":[],"tools":[{"name":"list"}],
      "tool_choice":{"type":"none","type":"auto"}}`
    expect(scanned('anthropic_messages', body)?.callable).toEqual([])
  })
})
