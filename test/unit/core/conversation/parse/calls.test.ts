import { describe, expect, it } from 'vitest'
import { scanRequest } from '../../../../../src/core/conversation/parse/scan-request.ts'
import type { RouteName } from '../../../../../src/core/dialects/lookup.ts'
import { bytesOf } from '../../../../support/runner.ts'

const LIMITS = { maxBytes: 1 << 20, maxDepth: 64, maxValues: 10_000 }

const use = (id: string, name: string, fields = {}) => ({
  type: 'tool_use',
  id,
  name,
  input: {},
  ...fields,
})
const result = (tool_use_id: string, content: unknown = 'x') => ({
  type: 'tool_result',
  tool_use_id,
  content,
})
const said = (...content: object[]) => ({ role: 'assistant', content })
const got = (...content: object[]) => ({ role: 'user', content })

/**
 * A request with keys that are there twice: `a` with a number behind it stands for the key without
 * it.
 */
function scan(
  messages: readonly object[],
  route: RouteName = 'anthropic_messages',
  list = 'messages',
) {
  const text = JSON.stringify({ [list]: messages }).replace(/"(\w+)#"/g, '"$1"')
  const scanned = scanRequest(bytesOf(text), route, LIMITS)
  expect(scanned).not.toBeNull()
  return scanned!.results
}

const toolsOf = (results: ReturnType<typeof scan>) => results.map(({ tool }) => tool)

const chatCall = (id: string, name: string) => ({
  id,
  type: 'function',
  function: { name, arguments: '{}' },
})
const chatResult = (tool_call_id: string) => ({ role: 'tool', tool_call_id, content: 'x' })

describe('the call of a result', () => {
  it('is the next of those that one message makes with one id', () => {
    const calls = said(use('', 'Read'), use('', 'Bash'))
    expect(toolsOf(scan([calls, got(result(''), result(''))]))).toEqual(['Read', 'Bash'])
    expect(toolsOf(scan([calls, got(result('')), got(result('')), got(result(''))]))).toEqual([
      'Read',
      'Bash',
      'Bash',
    ])
    const without = said(use('', 'Read', { id: undefined }))
    expect(toolsOf(scan([without, got({ ...result('1'), tool_use_id: undefined })]))).toEqual([
      undefined,
    ])
    const chat = { role: 'assistant', tool_calls: [chatCall('', 'Read'), chatCall('', 'Bash')] }
    const nameless = { ...chat, tool_calls: [{ ...chatCall('', 'Read'), id: undefined }] }
    const answer = { role: 'tool', content: 'x' }
    expect(toolsOf(scan([nameless, answer], 'openai_chat'))).toEqual([undefined])
    const results = [chatResult(''), chatResult('')]
    expect(toolsOf(scan([chat, ...results], 'openai_chat'))).toEqual(['Read', 'Bash'])
  })

  it('is that of the latest message that uses the id', () => {
    const messages = [
      said(use('1', 'Read')),
      got(result('1')),
      said(use('1', 'Bash')),
      got(result('1')),
    ]
    expect(toolsOf(scan(messages))).toEqual(['Read', 'Bash'])
    const lost = [said(use('1', 'Read')), said(use('1', 'Bash')), got(result('1'))]
    expect(toolsOf(scan(lost))).toEqual(['Bash'])
  })

  it('is not an earlier one where the id came again in a call with doubled keys', () => {
    const first = [said(use('1', 'Read')), got(result('1'))]
    const again = scan([...first, said(use('1', 'Bash', { 'name#': 'List' })), got(result('1'))])
    expect(toolsOf(again)).toEqual(['Read', undefined])
    const inDoubled = { ...said(use('1', 'Bash')), 'role#': 'assistant' }
    expect(toolsOf(scan([...first, inDoubled, got(result('1'))]))).toEqual(['Read', undefined])

    const chat = [{ role: 'assistant', tool_calls: [chatCall('1', 'Read')] }, chatResult('1')]
    const doubled = { role: 'assistant', tool_calls: [{ ...chatCall('1', 'Bash'), 'id#': '1' }] }
    expect(toolsOf(scan([...chat, doubled, chatResult('1')], 'openai_chat'))).toEqual([
      'Read',
      undefined,
    ])
    const message = { role: 'assistant', tool_calls: [chatCall('1', 'Bash')], 'role#': 'assistant' }
    expect(toolsOf(scan([...chat, message, chatResult('1')], 'openai_chat'))).toEqual([
      'Read',
      undefined,
    ])

    const item = (name: string) => ({ type: 'function_call', call_id: '1', name, arguments: '{}' })
    const output = { type: 'function_call_output', call_id: '1', output: 'x' }
    const items = [item('Read'), output, { ...item('Bash'), 'name#': 'List' }, output]
    expect(toolsOf(scan(items, 'openai_responses', 'input'))).toEqual(['Read', undefined])
  })

  it('has its arguments read once', () => {
    const [first, second] = scan([said(use('1', 'Read')), got(result('1')), got(result('1'))])
    expect(first!.args()).toEqual({})
    expect(second!.args()).toBe(first!.args())
    expect([first!.firstOfCall, second!.firstOfCall]).toEqual([0, 0])
  })
})

describe('the place of a result', () => {
  const places = (results: ReturnType<typeof scan>) =>
    results.map(({ ordinal, callsAhead }) => [ordinal, callsAhead])

  it('counts results with doubled keys', () => {
    const doubled = { ...result('2'), 'content#': 'y' }
    const turn = (id: string, block: object) => [said(use(id, 'Read')), got(block)]
    const messages = [...turn('1', result('1')), ...turn('2', doubled), ...turn('3', result('3'))]
    expect(places(scan(messages))).toEqual([
      [0, 0],
      [2, 0],
    ])
    const inDoubled = { ...got(result('2')), 'role#': 'user' }
    expect(places(scan(messages.with(3, inDoubled)))).toEqual([
      [0, 0],
      [2, 0],
    ])
    const chat = (id: string, fields = {}) => [
      { role: 'assistant', tool_calls: [chatCall(id, 'Read')] },
      { ...chatResult(id), ...fields },
    ]
    const again = [...chat('1', { 'content#': 'y' }), chatResult('1'), ...chat('2')]
    expect(places(scan(again, 'openai_chat'))).toEqual([
      [1, undefined],
      [2, -1],
    ])
    const item = { type: 'function_call', call_id: '1', name: 'Read', arguments: '{}' }
    const output = { type: 'function_call_output', call_id: '1', output: 'x' }
    const items = [item, { ...output, 'output#': 'y' }, item, output]
    expect(places(scan(items, 'openai_responses', 'input'))).toEqual([[1, 0]])
  })

  it('tells how far calls and results are apart', () => {
    const calls = said(use('1', 'Read'), use('2', 'Bash'))
    expect(places(scan([calls, got(result('2'), result('1'))]))).toEqual([
      [0, 1],
      [1, -1],
    ])
    expect(places(scan([got(result('9')), calls, got(result('1'))]))).toEqual([
      [0, undefined],
      [1, -1],
    ])
    const searched = [
      { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
      { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
    ]
    expect(places(scan([said(...searched, use('1', 'Read')), got(result('1'))]))).toEqual([[1, 0]])
    const item = { type: 'function_call', call_id: '1', name: 'Read', arguments: '{}' }
    const items = [
      { type: 'web_search_call', id: 'w', status: 'completed' },
      { type: 'computer_call', call_id: 'c' },
      { type: 'computer_call_output', call_id: 'c', output: {} },
      { type: 'mcp_call', id: 'm', name: 'Read', arguments: '{}', output: 'x' },
      item,
      { type: 'function_call_output', call_id: '1', output: 'x' },
    ]
    expect(places(scan(items, 'openai_responses', 'input'))).toEqual([
      [2, 0],
      [3, 0],
    ])
  })

  it('tells whether a text is all of its result', () => {
    const text = { type: 'text', text: 'x' }
    const contents = ['x', [text], [text, text], [{ type: 'image' }, text]]
    const messages = contents.map(content => got(result('1', content)))
    expect(scan(messages).map(({ isWhole }) => isWhole)).toEqual([true, true, false, false, false])
  })
})
