import { expect, it } from 'vitest'
import { argumentFault } from '../../../../src/mcp/catalogue/search/argument-fault.ts'
import { wordsOf } from '../../../../src/mcp/catalogue/search/tool-index.ts'
import { connectMemory, MemoryServer } from '../../../support/mcp/memory-gateway.ts'
import { FULL_RUNS } from '../../../support/runs.ts'
import { threadTime } from '../../../support/thread-time.ts'

const MIB = 1024 * 1024
const tool = (name: string, more: object = {}) => ({
  name,
  inputSchema: { type: 'object' },
  ...more,
})
const connect = (...tools: object[]) =>
  connectMemory([new MemoryServer('one', tools)], { search: { mode: 'always' } })

it('searches very many tools, with a query of 100 KB', async () => {
  const count = FULL_RUNS ? 5_000 : 1_000
  const many = Array.from({ length: count }, (_, at) =>
    tool(`tool_${at}`, { description: `Reads ${at}.` }),
  )
  const { call, list } = await connect(...many)
  const [find] = await list()
  expect(find!.description).toMatch(new RegExp(`\none: ${count} tools$`))
  const found = await call('find_tools', { query: 'reads 711' })
  expect(JSON.parse(found.content[0].text).name).toBe('tool_711')
  for (const query of ['tool_1,'.repeat(15_000), 'read '.repeat(20_000), 'x'.repeat(100_000)]) {
    const { content } = await call('find_tools', { query })
    expect(JSON.stringify(content).length).toBeLessThan(20_000)
  }
})

it('shows a definition of a megabyte whole by its name, and by its sentence beside others', async () => {
  const description = `Draws. ${'x '.repeat(MIB / 2 - 200)}`
  const large = ['draw_a', 'draw_b'].map(name => tool(name, { description }))
  const { call } = await connect(...large)
  const [whole] = (await call('find_tools', { query: 'draw_b' })).content
  expect(JSON.parse(whole.text).description).toBe(description)
  const [first, how] = (await call('find_tools', { query: 'draws' })).content
  expect(JSON.parse(first.text).name).toBe('draw_a')
  expect(how.text).toContain('draw_b (call_tool): Draws.')
})

it('takes schemas that refer to themselves, and members of any type', async () => {
  const cycle = { type: 'object', properties: { next: { $ref: '#' } }, required: ['next', 3] }
  const { call } = await connect(
    tool('cycle', { inputSchema: cycle, description: 'A list of lists.' }),
    tool('odd', { inputSchema: { type: 'object', properties: { a: true, b: { type: ['x'] } } } }),
  )
  expect(JSON.parse((await call('find_tools', { query: 'lists' })).content[0].text).name).toBe(
    'cycle',
  )
  const deep = `${'{"next":'.repeat(5_000)}1${'}'.repeat(5_000)}`
  for (const args of [deep, '{"next":{"next":1}}']) {
    expect(await call('call_tool', `{"name":"cycle","arguments":${args}}`)).not.toHaveProperty(
      'isError',
    )
  }
  expect(await call('call_tool', { name: 'odd', arguments: { a: 1, b: 2 } })).not.toHaveProperty(
    'isError',
  )
})

it.each(['null', '3', '[]', '"x"', '{"query":3}', '{"name":{}}', '{"query":"a","query":"b"}'])(
  'answers arguments %s with an error',
  async args => {
    const { call, bugs } = await connect(tool('one'))
    for (const ours of ['find_tools', 'call_read_tool', 'call_tool']) {
      expect((await call(ours, args)).isError).toBe(true)
    }
    expect(bugs).toEqual([])
  },
)

it.each([
  ['{"a":"1"}', { properties: { a: { type: 'integer' } } }, null],
  ['{"a":null}', { properties: { a: { type: 'string' } } }, null],
  ['{"a":{}}', { properties: { a: { type: 'string' } } }, 'a must be of the type string'],
  ['{"a":"x"}', { properties: { a: { type: 'array' } } }, 'a must be of the type array'],
  ['{"a":1}', { additionalProperties: false }, 'there is no a'],
  ['{"a":1}', { additionalProperties: false, patternProperties: {} }, null],
  ['{"a":1,"a":2}', {}, 'arguments have a name twice, or too many'],
  ['{"__proto__":1}', { required: ['__proto__'] }, null],
])('says of %s by %j: %s', (args, schema, fault) => {
  expect(argumentFault(Buffer.from(args), Buffer.from(JSON.stringify(schema)))).toBe(fault)
})

it('reads words in linear time', () => {
  const timeOf = (text: string) => {
    const started = threadTime()
    wordsOf(text)
    return threadTime() - started
  }
  for (const part of ['aA', 'a', '_', 'ss', '中', 'A', 'ing', '\u0301']) {
    const times = [1, 2].map(
      () => timeOf(part.repeat(40_000)) / Math.max(1, timeOf(part.repeat(5_000))),
    )
    expect(Math.min(...times)).toBeLessThan(40)
  }
})
