import { describe, expect, it } from 'vitest'
import { scanned, texts, toolResult, userBlocks } from './scanned.ts'

const route = 'anthropic_messages'
const call = (more: object = {}) => ({
  type: 'tool_use',
  id: 't1',
  name: 'Read',
  input: { a: 1 },
  ...more,
})
const turn = (callMore: object, ...results: readonly unknown[]) => ({
  messages: [
    { role: 'user', content: 'tool_result' },
    { role: 'assistant', content: [{ type: 'text', text: 'so' }, call(callMore)] },
    { role: 'user', content: results },
  ],
})

describe('what is found', () => {
  it('tells model, stream, tools and messages', () => {
    const body = JSON.stringify({
      model: 'm',
      stream: true,
      tools: [
        { name: 'Read', input_schema: { name: 'x' } },
        { type: 'mcp_toolset' },
        { name: 'b' },
      ],
      messages: [{ role: 'user', content: 'a' }, 7],
    })
    const found = scanned(route, body)
    expect(found).toMatchObject({ model: 'm', stream: true, tools: ['Read', 'b'], results: [] })
    expect(found?.messages.map(({ start, end }) => body.slice(start, end))).toEqual([
      '{"role":"user","content":"a"}',
      '7',
    ])
  })

  it('is a string or text parts, with the call that it answers', () => {
    const image = { type: 'image', source: { type: 'base64', data: 'AAAA' } }
    const body = turn(
      {},
      toolResult('one'),
      toolResult([image, { type: 'text', text: 'two' }], { is_error: true, tool_use_id: 't2' }),
    )
    const [one, two, ...more] = scanned(route, body)?.results ?? []
    expect(more).toEqual([])
    expect(one).toMatchObject({ message: 2, block: 0, part: 0, tool: 'Read', callId: 't1' })
    expect([one?.text(), one?.args(), one?.isError]).toEqual(['one', { a: 1 }, false])
    expect(two).toMatchObject({ message: 2, block: 1, part: 1, isError: true, callId: 't2' })
    expect([two?.text(), two?.tool, two?.args()]).toEqual(['two', undefined, undefined])
  })

  it('may be written with escapes, in any order', () => {
    const block = String.raw`{"content":"\u0061\ud800","tool_use_id":"t1","\u0074ype":"tool\u005fresult"}`
    const body = String.raw`{"messages":[{"content":[${block}],"role":"us\u0065r"}]}`
    const [found] = scanned(route, body)?.results ?? []
    expect(body.slice(found?.start, found?.end)).toBe(String.raw`"\u0061\ud800"`)
    expect(found?.text()).toBe('a\ud800')
  })

  it('names the latest call of an id before it', () => {
    const turns = [turn({}, toolResult('a')), turn({ name: 'Grep' }, toolResult('b'))]
    const body = { messages: [toolResult, ...turns.flatMap(({ messages }) => messages)] }
    expect(scanned(route, body)?.results.map(({ tool }) => tool)).toEqual(['Read', 'Grep'])
  })
})

describe('what is left alone', () => {
  const result = '"type":"tool_result","content":"a"'
  const message = (block: string, role = '"role":"user"') =>
    `{"messages":[{${role},"content":[${block}]}]}`

  it.each([
    [
      'texts of others',
      userBlocks({ type: 'text', text: 'a' }, { type: 'thinking', thinking: 'a' }),
    ],
    ['what providers ran', userBlocks(toolResult('a', { type: 'mcp_tool_result' }))],
    [
      'search results',
      userBlocks(toolResult([{ type: 'search_result', content: [{ type: 'text', text: 'a' }] }])),
    ],
    ['documents', userBlocks(toolResult([{ type: 'document', text: 'a' }]))],
    [
      'texts that are none',
      userBlocks(toolResult([{ type: 'text', text: ['a'] }]), toolResult({ text: 'a' })),
    ],
    ['an assistant', { messages: [{ role: 'assistant', content: [toolResult('a')] }] }],
    ['lists in lists', userBlocks(toolResult([[{ type: 'text', text: 'a' }]]))],
    ['a program’s call', turn({ caller: { type: 'code_execution_20250825' } }, toolResult('a'))],
    ['a program’s result', turn({}, toolResult('a', { caller: { type: 'x' } }))],
    ['a caller twice', message(`{${result},"caller":{"type":"x","type":"direct"}}`)],
    ['a type twice', message(`{"type":"text",${result}}`)],
    [
      'a text twice',
      message('{"type":"tool_result","content":[{"type":"text","text":"a","text":"b"}]}'),
    ],
    ['a role twice', message(`{${result}}`, '"role":"assistant","role":"user"')],
    ['a content twice', message(`{${result},"c\\u006fntent":"b"}`)],
  ])('%s', (_, body) => {
    expect(texts(route, body)).toEqual([])
  })

  it('does not hide its neighbours', () => {
    expect(
      texts(route, message(`{${result},"is_error":true,"is_error":false},{${result}}`)),
    ).toEqual(['a'])
    expect(texts(route, turn({ caller: { type: 'direct' } }, toolResult('a')))).toEqual(['a'])
    expect(texts(route, turn({ caller: null }, toolResult('a', { caller: null })))).toEqual(['a'])
  })
})

describe('cache breakpoints', () => {
  const mark = { cache_control: { type: 'ephemeral' } }
  const cached = (body: object) => scanned(route, body)?.results.map(each => each.inCachedPrefix)
  const [a, b] = [toolResult('a'), toolResult('b')]

  it.each([
    ['none', userBlocks(a, b), [false, false]],
    ['on a result', userBlocks(toolResult('a', mark), b), [true, false]],
    ['on another block', userBlocks(a, { type: 'text', text: 'x', ...mark }, b), [true, false]],
    [
      'on a part',
      userBlocks(
        toolResult([
          { type: 'text', text: 'a', ...mark },
          { type: 'text', text: 'b' },
        ]),
      ),
      [true, false],
    ],
    ['taken back', userBlocks(a, toolResult('b', { cache_control: null })), [false, false]],
    ['at the top', { ...userBlocks(a, b), ...mark }, [true, true]],
    ['in the tools', { ...userBlocks(a), tools: [{ name: 'x', ...mark }] }, [false]],
  ])('%s', (_, body, wanted) => {
    expect(cached(body)).toEqual(wanted)
  })
})
