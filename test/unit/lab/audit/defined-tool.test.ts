import { expect, it } from 'vitest'
import { definedTools } from '../../../../src/lab/audit/defined-tool.ts'
import { repeatedSentences } from '../../../../src/lab/audit/sentences.ts'
import { ToolUse } from '../../../../src/lab/audit/tool-use.ts'

const schema = { type: 'object', properties: { a: { description: 'A text.' }, b: true } }
const SEEN = {
  ...{ tool: 't', description: 'D.' },
  parameters: [
    { name: 'a', description: 'A text.' },
    { name: 'b', description: '' },
  ],
}

it.each([
  ['Anthropic', { tools: [{ name: 't', description: 'D.', input_schema: schema }] }],
  ['a chat', { tools: [{ function: { name: 't', description: 'D.', parameters: schema } }] }],
  [
    'Responses',
    { tools: [{ type: 'function', name: 't', description: 'D.', parameters: schema }] },
  ],
  ['MCP', { result: { tools: [{ name: 't', description: 'D.', inputSchema: schema }] } }],
])('reads the definitions of %s', (_, value) => {
  const [tool] = definedTools(value)!
  expect(tool).toMatchObject(SEEN)
  expect(JSON.parse(tool!.sent)).toEqual({ name: 't', description: 'D.', input_schema: schema })
})

it.each([[null], [[]], [{ tools: 1 }], ['tools']])('finds no list in %j', value => {
  expect(definedTools(value)).toBeNull()
})

it('leaves out what has no name', () => {
  expect(definedTools({ tools: [null, 3, { type: 'web_search' }, { name: 't' }] })).toHaveLength(1)
})

it('counts a sentence in each place', () => {
  const long = 'Paths must be absolute and within the allowed folders.'
  const tools = definedTools({
    tools: [
      { name: 'a', description: `Reads.\n${long} More.` },
      { name: 'b', description: long, input_schema: { properties: { p: { description: long } } } },
      { name: 'c', description: 'Reads.' },
    ],
  })!
  expect(repeatedSentences(tools)).toEqual([{ sentence: long, tools: ['a', 'b'], times: 3 }])
})

it('finds parameters that no call had', () => {
  const use = new ToolUse()
  const [tool] = definedTools({ tools: [{ name: 'mcp__s__t', input_schema: schema }] })!
  expect(use.unusedParameters(tool!)).toEqual([])
  use.add({ tool: 's__t', args: { a: 1 } })
  use.add({ tool: 'other', args: { b: 1 } })
  expect(use.calls('t')).toBe(1)
  expect(use.unusedParameters(tool!)).toEqual(['b'])
})
