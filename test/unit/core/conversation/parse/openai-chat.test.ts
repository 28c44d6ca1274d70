import { describe, expect, it } from 'vitest'
import { scanned, texts } from './scanned.ts'

const route = 'openai_chat'
const calls = {
  role: 'assistant',
  content: null,
  tool_calls: [
    { id: 'c1', type: 'function', function: { name: 'get', arguments: '{"a":[1]}' } },
    { id: 'c2', type: 'custom', custom: { name: 'sql', input: 'select 1' } },
    { id: 'c3', type: 'function', function: { name: 'none' } },
  ],
}
const tool = (tool_call_id: unknown, content: unknown, more: object = {}) => ({
  role: 'tool',
  tool_call_id,
  content,
  ...more,
})

describe('messages of tools', () => {
  it('are found with the call of their id', () => {
    const parts = [
      { type: 'text', text: 'two' },
      { type: 'refusal', refusal: 'x' },
      { type: 'text', text: 'three' },
    ]
    const body = {
      messages: [
        calls,
        tool('c1', 'one'),
        tool('c2', parts),
        tool('c3', ''),
        tool('c9', 'x', { name: 'own' }),
      ],
    }
    const found = scanned(route, body)?.results ?? []
    expect(
      found.map(each => [each.message, each.part, each.text(), each.tool, each.args()]),
    ).toEqual([
      [1, 0, 'one', 'get', { a: [1] }],
      [2, 0, 'two', 'sql', 'select 1'],
      [2, 2, 'three', 'sql', 'select 1'],
      [3, 0, '', 'none', undefined],
      [4, 0, 'x', 'own', undefined],
    ])
    expect(found.map(({ callId }) => callId)).toEqual(['c1', 'c2', 'c2', 'c3', 'c9'])
  })

  it('are found as answers to the last function of their name', () => {
    const old = (args: string) => ({
      role: 'assistant',
      function_call: { name: 'get', arguments: args },
    })
    const answer = { role: 'function', name: 'get', content: 'x' }
    const found = scanned(route, {
      messages: [old('1'), answer, old('2'), answer, tool('get', 'y')],
    })?.results
    expect(found?.map(each => [each.tool, each.args(), each.callId])).toEqual([
      ['get', 1, undefined],
      ['get', 2, undefined],
      [undefined, undefined, 'get'],
    ])
  })

  it('have the names of tools and functions', () => {
    const tools = [
      { type: 'function', function: { name: 'a', parameters: { name: 'x' } } },
      { type: 'custom', custom: { name: 'b' } },
      { type: 'other', name: 'c' },
    ]
    const body = JSON.stringify({ tools, functions: [{ name: 'd' }], messages: [] })
    expect(scanned(route, body)?.tools).toEqual(['a', 'b', 'd'])
    expect(scanned(route, body.replace('"name":"d"', '"name":"e","name":"d"'))?.tools).toEqual([
      'a',
      'b',
    ])
  })

  it('are at breakpoints that gateways understand', () => {
    const mark = { cache_control: { type: 'ephemeral' } }
    const user = { role: 'user', content: [{ type: 'text', text: 'x', ...mark }] }
    const found = scanned(route, {
      messages: [tool('c1', 'a'), user, tool('c1', 'b'), tool('c1', 'c', mark), tool('c1', 'd')],
    })
    expect(found?.results.map(each => each.inCachedPrefix)).toEqual([true, true, true, false])
  })
})

it.each([
  [
    'other roles',
    {
      messages: ['user', 'system', 'developer', 'assistant'].map(role => ({ role, content: 'a' })),
    },
  ],
  ['other types of parts', { messages: [tool('c1', [{ type: 'input_text', text: 'a' }])] }],
  ['no content', { messages: [tool('c1', null), { role: 'function', name: 'x' }] }],
  ['a role twice', '{"messages":[{"role":"user","role":"tool","content":"a"}]}'],
  ['a content twice', '{"messages":[{"role":"tool","content":"b","content":"a"}]}'],
])('leaves alone: %s', (_, body) => {
  expect(texts(route, body)).toEqual([])
})

it('does not trust a call whose id is there twice', () => {
  const call = '{"id":"0","id":"1","function":{"name":"é"}}'
  const tool = '{"role":"tool","tool_call_id":"1","content":"x"}'
  const body = `{"messages":[{"role":"assistant","tool_calls":[${call}]},${tool}]}`
  expect(scanned(route, body)?.results[0]?.tool).toBeUndefined()
  expect(scanned(route, body.replace('"id":"0",', ''))?.results[0]?.tool).toBe('é')
})

it('does not trust a call whose name is there twice', () => {
  const body =
    '{"messages":[{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"a","name":"b"}}]},{"role":"tool","tool_call_id":"1","content":"x"}]}'
  expect(scanned(route, body)?.results[0]?.tool).toBeUndefined()
})
