import { describe, expect, it } from 'vitest'
import { scanned, texts } from './scanned.ts'

const route = 'openai_responses'
const output = (output: unknown, more: object = {}) => ({
  type: 'function_call_output',
  call_id: 'c1',
  output,
  ...more,
})
const call = { type: 'function_call', id: 'f1', call_id: 'c1', name: 'get', arguments: '{"a":1}' }

describe('items of the input', () => {
  it('are found with the call of their id', () => {
    const parts = [
      { type: 'input_image', image_url: 'x' },
      { type: 'input_text', text: 'two' },
    ]
    const custom = { type: 'custom_tool_call', call_id: 'c2', name: 'sql', input: 'select' }
    const input = [
      call,
      custom,
      output('one'),
      output(parts, { type: 'custom_tool_call_output', call_id: 'c2' }),
      { type: 'mcp_call', id: 'm1', name: 'find', arguments: '{}', output: 'three', error: null },
      {
        type: 'mcp_call',
        id: 'm2',
        name: 'find',
        arguments: '{}',
        output: 'four',
        error: { code: 1 },
      },
    ]
    const found = scanned(route, { input })?.results ?? []
    expect(
      found.map(each => [each.message, each.part, each.text(), each.tool, each.args()]),
    ).toEqual([
      [2, 0, 'one', 'get', { a: 1 }],
      [3, 1, 'two', 'sql', 'select'],
      [4, 0, 'three', 'find', {}],
      [5, 0, 'four', 'find', {}],
    ])
    expect(found.map(({ callId, isError }) => [callId, isError])).toEqual([
      ['c1', false],
      ['c2', false],
      ['m1', false],
      ['m2', true],
    ])
  })

  it.each([
    ['a text', { model: 'm', input: 'function_call_output' }],
    ['kept by the provider', { model: 'm', previous_response_id: 'r' }],
  ])('may be %s', (_, body) => {
    expect(scanned(route, body)).toMatchObject({ model: 'm', messages: [], results: [] })
  })

  it('name the response that they continue', () => {
    for (const [id, continues] of [
      ['resp_1', 'resp_1'],
      [null, undefined],
      [7, undefined],
      ['x'.repeat(300), undefined],
    ]) {
      expect(scanned(route, { input: [], previous_response_id: id })?.continues).toBe(continues)
    }
  })

  it('have the names of tools, of namespaces, and of tools that came on the way', () => {
    const space = { type: 'namespace', name: 'crm', tools: [{ type: 'function', name: 'b' }] }
    const later = { type: 'additional_tools', tools: [{ type: 'custom', name: 'c' }] }
    const body = {
      tools: [{ type: 'function', name: 'a' }, { type: 'mcp', server_label: 'x' }, space],
      input: [later],
    }
    expect(scanned(route, body)?.tools).toEqual(['a', 'crm', 'b', 'c'])
  })

  it('items of the input have explicit breakpoints', () => {
    const mark = { prompt_cache_breakpoint: { mode: 'explicit' } }
    const user = {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'x', ...mark }],
    }
    const found = scanned(route, {
      input: [output('a'), user, output([{ type: 'text', text: 'b', ...mark }]), output('c')],
    })
    expect(found?.results.map(each => each.inCachedPrefix)).toEqual([true, true, false])
  })
})

it.each([
  ['messages', { input: [{ type: 'message', role: 'tool', content: 'a', output: 'a' }] }],
  [
    'tools of the provider',
    {
      input: [
        'shell_call_output',
        'local_shell_call_output',
        'computer_call_output',
        'apply_patch_call_output',
      ].map(type => output('a', { type })),
    },
  ],
  [
    'results for a program',
    { input: [{ ...call, caller: { type: 'program', caller_id: 'p' } }, output('a')] },
  ],
  ['results that say so', { input: [call, output('a', { caller: { type: 'program' } })] }],
  [
    'what may be for a program',
    { tools: [{ type: 'programmatic_tool_calling' }], input: [output('a')] },
  ],
  ['what is there twice', '{"input":[{"type":"function_call_output","output":"a","output":"b"}]}'],
])('leaves alone: %s', (_, body) => {
  expect(texts(route, body)).toEqual([])
})

it('does not trust tools whose keys are there twice', () => {
  const tool = '{"type":"function","type":"programmatic_tool_calling"}'
  const input = JSON.stringify([output('a')])
  expect(texts(route, `{"tools":[${tool}],"input":${input}}`)).toEqual([])
  const space = '{"name":"x","tools":[{"name":"a"}],"tools":[{"name":"b"}]}'
  expect(scanned(route, `{"tools":[${space}],"input":[]}`)?.tools).toEqual([])
})

it('changes results for the model where programs may call too', () => {
  const body = { tools: [{ type: 'programmatic_tool_calling' }], input: [call, output('a')] }
  expect(texts(route, body)).toEqual(['a'])
})
