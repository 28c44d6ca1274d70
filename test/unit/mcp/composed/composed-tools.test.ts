import { describe, expect, it } from 'vitest'
import { configSchema } from '../../../../src/config/config.ts'
import { composedTools } from '../../../../src/mcp/composed/composed-tool.ts'
import { connectMemory, MemoryServer, textResult } from '../../../support/mcp/memory-gateway.ts'

const READS = { inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }
const SEARCH = [{ name: 'search', ...READS }]

const SETTINGS = {
  mcp: {
    servers: { one: { url: 'http://localhost:1' } },
    composed: {
      search_def_and_refs: {
        description: 'Finds a symbol.',
        parameters: { symbol: 'Its name' },
        calls: ['definitions', 'references'].map(mode => ({
          ...{ label: mode, server: 'one', tool: 'search' },
          arguments: { query: '{symbol}', mode, n: 5, at: ['in {symbol}'] },
        })),
      },
    },
  },
}

/** A gateway with the tool that is composed above. */
async function setUp({
  tools = SEARCH,
  isTrusted = true,
  models = {},
}: {
  readonly tools?: readonly object[]
  readonly isTrusted?: boolean
  readonly models?: object
} = {}) {
  const server = new MemoryServer('one', tools, isTrusted)
  const config = configSchema.parse({ ...SETTINGS, tools: models })
  const composed = composedTools(config.mcp.composed, config.tools)
  const { gateway, call, arrivals } = await connectMemory([server], { composed })
  const listed = async () => {
    const outcome = await gateway.handle({
      ...{ method: 'tools/list', params: null, context: null },
      ...{ signal: new AbortController().signal, notify() {}, ask: async () => outcome },
    })
    if (outcome.kind !== 'result') throw new Error(String(outcome.error))
    return JSON.parse(String(outcome.result)).tools as { name: string; inputSchema: object }[]
  }
  const find = (symbol: unknown = 'a"b') => call('search_def_and_refs', { symbol })
  return { server, listed, find, call, arrivals }
}

const text = (content: string) => ({ type: 'text', text: content })

describe('a composed tool', () => {
  it('is listed beside the others', async () => {
    const { listed } = await setUp()
    const tools = await listed()
    expect(tools.map(({ name }) => name)).toEqual(['search', 'search_def_and_refs'])
    expect(tools[1]!.inputSchema).toMatchObject({
      properties: { symbol: { type: 'string', description: 'Its name' } },
      required: ['symbol'],
    })
  })

  it('makes its calls at once, and answers with all blocks', async () => {
    const { server, find } = await setUp()
    let waiting: (() => void)[] = []
    server.handler = ({ args }) =>
      new Promise(resolve => {
        waiting.push(() => resolve(textResult(`found by ${JSON.parse(args).mode}`)))
        if (waiting.length === 2) for (const answer of waiting.splice(0).reverse()) answer()
      })
    expect(await find()).toEqual({
      content: [
        text('definitions:'),
        text('found by definitions'),
        text('references:'),
        text('found by references'),
      ],
    })
    waiting = []
    expect(server.argsOf('search').map(args => JSON.parse(args))).toEqual([
      { query: 'a"b', mode: 'definitions', n: 5, at: ['in a"b'] },
      { query: 'a"b', mode: 'references', n: 5, at: ['in a"b'] },
    ])
  })

  it('tells what failed in its place, and fails if all do', async () => {
    const { server, find } = await setUp()
    server.handler = ({ args }) =>
      textResult('answer', { isError: JSON.parse(args).mode === 'definitions' })
    expect(await find()).toEqual({
      content: [text('definitions failed:'), text('answer'), text('references:'), text('answer')],
    })
    server.handler = () => textResult('no', { isError: true })
    expect((await find()).isError).toBe(true)
  })

  it('is one call of its context', async () => {
    const { call, arrivals } = await setUp()
    await call('search_def_and_refs', { symbol: 'a' }, { context: 'c' })
    expect(arrivals).toEqual(['c'])
  })

  it('shows a structured value that has no text', async () => {
    const { server, find } = await setUp()
    server.handler = () => JSON.stringify({ content: [], structuredContent: { n: 1 } })
    const { content, structuredContent } = await find()
    expect(content[1]).toEqual(text('{"n":1}'))
    expect(structuredContent).toBeUndefined()
  })

  it.each([[undefined], [3], [null]])('refuses %j for a text', async symbol => {
    const { server, call } = await setUp()
    const answer = await call('search_def_and_refs', symbol === undefined ? {} : { symbol })
    expect(answer).toMatchObject({ code: -32602, message: 'symbol must be a text' })
    expect(server.calls).toEqual([])
  })

  it.each([
    ['may write', { tools: [{ name: 'search', inputSchema: { type: 'object' } }] }],
    ['is of a server that is not trusted', { isTrusted: false }],
    ['is not listed', { tools: [{ name: 'other', ...READS }] }],
  ])('is not offered if what it calls %s', async (_, options) => {
    const { listed, find, server } = await setUp(options)
    expect((await listed()).map(({ name }) => name)).not.toContain('search_def_and_refs')
    expect(await find()).toMatchObject({ code: -32602 })
    expect(server.calls).toEqual([])
  })

  it('is offered if the configuration states that its calls only read', async () => {
    const models = { search: { side_effect_class: 'read_only' } }
    const { listed } = await setUp({ isTrusted: false, models })
    expect((await listed()).map(({ name }) => name)).toContain('search_def_and_refs')
  })
})

describe('the configuration of a composed tool', () => {
  const changed = (change: object) => {
    const { composed, servers } = SETTINGS.mcp
    const tool = { ...composed.search_def_and_refs, ...change }
    return configSchema.safeParse({ mcp: { servers, composed: { tool } } }).error?.issues
  }

  it('has no places without a parameter, and no servers that are not there', () => {
    expect(changed({ parameters: {} })?.[0]?.message).toBe('{symbol} is no parameter')
    const calls = SETTINGS.mcp.composed.search_def_and_refs.calls.map(call => {
      return { ...call, server: 'two' }
    })
    expect(changed({ calls })?.[0]).toMatchObject({
      message: 'no server two',
      path: ['mcp', 'composed', 'tool', 'calls', 0, 'server'],
    })
  })
})
