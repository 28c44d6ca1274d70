import { expect, it } from 'vitest'
import {
  connectMemory,
  type MemoryGatewayOptions,
  MemoryServer,
  textResult,
} from '../../../support/mcp/memory-gateway.ts'

const text = { type: 'string' }
const tool = (name: string, description: string, more: object = {}) => ({
  ...{
    name,
    description,
    inputSchema: { type: 'object', properties: { path: text }, required: ['path'] },
  },
  ...more,
})
const reads = { annotations: { readOnlyHint: true } }
const FILES = [
  tool('read_file', 'Reads a file. It may be large.', reads),
  tool('writeFile', 'Writes a text to a file.'),
  tool('delete_file', 'Deletes it.', { annotations: { destructiveHint: true } }),
]
const CODE = [tool('search', 'Finds symbols in source code.', reads)]

const servers = (trusted = true) => [
  new MemoryServer('files', FILES, trusted),
  new MemoryServer('code', CODE, trusted),
]

async function connect(
  search: MemoryGatewayOptions['search'] = {},
  of = servers(),
  clientName = 'x',
) {
  const client = await connectMemory(of, { search, clientName })
  const names = async () => (await client.list()).map(({ name }) => name)
  return { ...client, of, names }
}

const textsOf = (result: { content: { text: string }[] }) => result.content.map(each => each.text)
const OURS = ['find_tools', 'call_read_tool', 'call_tool']
const ALL = ['code__search', 'files__delete_file', 'files__read_file', 'files__writeFile']

it('lists three tools and what is marked as destructive, and names the others', async () => {
  const { list } = await connect()
  const tools = await list()
  expect(tools.map(({ name }) => name)).toEqual(['files__delete_file', ...OURS])
  expect(tools[1]!.description).toContain('\ncode: search\nfiles: read_file, writeFile')
  expect(tools[2]!.annotations).toEqual({ readOnlyHint: true })
  expect(tools[3]!.annotations).toMatchObject({ destructiveHint: true })
})

it.each([
  ['never', { mode: 'never' as const }, 'x'],
  ['a short list', { mode: 'auto' as const }, 'x'],
  ['a client that searches itself', { mode: 'auto' as const, above_tokens: 0 }, 'claude-code'],
])('leaves the list as it is: %s', async (_, search, clientName) => {
  const { names, call } = await connect(search, servers(), clientName)
  expect((await names()).filter(name => name !== 'haversack_retrieve')).toEqual(ALL)
  expect((await call('find_tools', { query: 'x' })).code).toBe(-32602)
})

it('replaces a list above the limit', async () => {
  expect(await (await connect({ mode: 'auto', above_tokens: 0 })).names()).toContain('find_tools')
})

it('keeps what is to be kept, and what is destructive', async () => {
  const { names } = await connect({ keep: ['code__*'] })
  expect(await names()).toEqual(['code__search', 'files__delete_file', ...OURS])
})

it('answers a search with whole definitions, and how to call them', async () => {
  const { call } = await connect()
  const [definitions, how] = textsOf(await call('find_tools', { query: 'read a file', limit: 1 }))
  const { inputSchema, description } = FILES[0]!
  expect(JSON.parse(definitions!)).toEqual({ name: 'files__read_file', description, inputSchema })
  expect(how).toContain('Call with call_read_tool: files__read_file')
  expect(how).toContain('\nfiles__writeFile (call_tool): Writes a text to a file.')
})

it.each([
  ['files__read_file, code__search', ['files__read_file', 'code__search']],
  ['read_file', ['files__read_file']],
  ['WRITEFILE\nsearch', ['files__writeFile', 'code__search']],
  ['files__delete_file', ['files__delete_file']],
])('finds %j by name, and nothing else', async (query, found) => {
  const { call } = await connect()
  const [how, ...definitions] = textsOf(await call('find_tools', { query })).toReversed()
  expect(definitions.toReversed().map(text => JSON.parse(text).name)).toEqual(found)
  expect(how).not.toContain('Others')
})

it('names the nearest tools if none is found', async () => {
  const { call } = await connect()
  const [head, others] = textsOf(await call('find_tools', { query: 'raed_flie' }))
  expect(head).toBe('No tool has these words.')
  expect(others).toContain('files__read_file')
  const missing = await call('call_read_tool', { name: 'files__red_file' })
  expect(missing.isError).toBe(true)
  expect(textsOf(missing).join('\n')).toContain('files__read_file (call_read_tool)')
})

it('calls the tool with its own name and arguments', async () => {
  const { call, of } = await connect()
  of[0]!.handler = ({ args }) => textResult(args)
  const result = await call(
    'call_read_tool',
    '{"name":"read_file","arguments":{"path":"1.0","n":1.0}}',
  )
  expect(textsOf(result)).toEqual(['{"path":"1.0","n":1}'])
  expect(String(of[0]!.calls[0]!.call.params)).toContain('{"path":"1.0","n":1.0}')
  const asText = { name: 'files__writeFile', arguments: JSON.stringify({ path: 'b' }) }
  expect(textsOf(await call('call_tool', asText))).toEqual(['{"path":"b"}'])
  expect(await call('files__writeFile', { path: 'c' })).not.toHaveProperty('isError')
})

it('refuses to read by a tool that may write, and to hide a destructive one', async () => {
  const { call, of } = await connect()
  const args = { path: '/a' }
  for (const [ours, name] of [
    ['call_read_tool', 'files__writeFile'],
    ['call_read_tool', 'files__delete_file'],
    ['call_tool', 'files__delete_file'],
  ] as const) {
    expect((await call(ours, { name, arguments: args })).isError).toBe(true)
  }
  expect(of[0]!.calls).toEqual([])
})

it('does not read by a tool that is marked as destructive, too', async () => {
  const both = { annotations: { readOnlyHint: true, destructiveHint: true } }
  const one = new MemoryServer('one', [tool('odd', 'Reads and deletes.', both)])
  const { call } = await connect({}, [one])
  const args = { name: 'odd', arguments: { path: '' } }
  expect((await call('call_read_tool', args)).isError).toBe(true)
  expect(one.calls).toEqual([])
})

it('believes the user, and servers that are trusted', async () => {
  const untrusted = await connect({}, servers(false))
  const args = { name: 'code__search', arguments: { path: '' } }
  expect((await untrusted.call('call_read_tool', args)).isError).toBe(true)
  const stated = await connect({ isStatedReadOnly: name => name === 'search' }, servers(false))
  expect(textsOf(await stated.call('call_read_tool', args))).toEqual(['ok'])
  const denied = await connect({ isStatedReadOnly: () => false })
  expect((await denied.call('call_read_tool', args)).isError).toBe(true)
})

it.each([
  [{}, 'path is missing'],
  [{ path: 3 }, 'path must be of the type string'],
  [[], 'arguments must be an object'],
  ['no JSON', 'arguments must be an object'],
])('answers arguments %j with the definition', async (args, fault) => {
  const { call, of } = await connect()
  const result = await call('call_tool', { name: 'writeFile', arguments: args })
  expect(result.isError).toBe(true)
  const [head, definition] = textsOf(result)
  expect(head).toBe(`Not called: ${fault}.`)
  expect(JSON.parse(definition!).name).toBe('files__writeFile')
  expect(of[0]!.calls).toEqual([])
})

it('neither finds nor calls what is excluded', async () => {
  const files = new MemoryServer('files', FILES)
  const hiding = { ...files.gatewayServer(), name: 'files' }
  Object.assign(files, {
    gatewayServer: () => ({ ...hiding, settings: { ...hiding.settings, exclude: ['writeFile'] } }),
  })
  const { call } = await connect({}, [files])
  expect(textsOf(await call('find_tools', { query: 'writeFile' })).join()).not.toContain('Writes')
  expect((await call('call_tool', { name: 'writeFile', arguments: { path: '' } })).isError).toBe(
    true,
  )
})

it('gives our tools other names if a server has these', async () => {
  const odd = ['find_tools', 'find_tools_2', 'call_tool'].map(name => tool(name, 'Odd.', reads))
  const { names, call } = await connect({}, [new MemoryServer('one', odd)])
  expect(await names()).toEqual(['find_tools_3', 'call_read_tool', 'call_tool_2'])
  const [found] = textsOf(await call('find_tools_3', { query: 'find_tools' }))
  expect(JSON.parse(found!).description).toBe('Odd.')
  expect(textsOf(await call('find_tools', { path: '' }))).toEqual(['ok'])
})

it('tells the client of a new list only if a listed tool changed', async () => {
  const { of, names, call, notices, settled } = await connect()
  const before = await names()
  const files = of[0]!
  const change = async (tools: readonly object[]) => {
    files.tools = tools
    files.announce('notifications/tools/list_changed')
    await settled()
    await new Promise(resolve => setTimeout(resolve, 300))
  }
  await change([...FILES, tool('rename_file', 'Moves it.')])
  expect(notices).toEqual([])
  expect(await names()).toEqual(before)
  const found = await call('find_tools', { query: 'read_file' })
  expect(textsOf(found).at(-1)).toContain('New tools: files__rename_file')
  expect(textsOf(await call('find_tools', { query: 'read_file' })).join()).not.toContain('New')
  await change(FILES.slice(0, 2))
  expect(notices).toEqual(['notifications/tools/list_changed'])
})

it('lists what was learned, as long as the list is short', async () => {
  const noted: string[] = []
  const learned = {
    recent: () => ['files__writeFile', 'files__gone', 'code__search'],
    begin: () => (name: string) => void noted.push(name),
  }
  const { names, call } = await connect({ learned })
  expect((await names()).slice(0, 3)).toEqual([
    'code__search',
    'files__delete_file',
    'files__writeFile',
  ])
  expect(await (await connect({ learned, above_tokens: 75 })).names()).toEqual([
    ...['files__delete_file', 'files__writeFile'],
    ...OURS,
  ])
  await call('call_tool', { name: 'read_file', arguments: { path: '' } })
  await call('files__writeFile', { path: '' })
  expect(noted).toEqual(['files__read_file', 'files__writeFile'])
})

it('answers with five definitions or so many as were asked for, and names ten more', async () => {
  const many = Array.from({ length: 40 }, (_, at) => tool(`page_${at}`, 'Shows a page. Or two.'))
  const { call } = await connect({}, [new MemoryServer('wiki', many, true)])
  const counts = async (more: object) => {
    const texts = textsOf(await call('find_tools', { query: 'shows a page', ...more }))
    const named = texts.at(-1)!.match(/^page_\d+ \(call_tool\): Shows a page\.$/gm)
    return [texts.length - 1, named?.length]
  }
  expect(await counts({})).toEqual([5, 10])
  expect(await counts({ limit: 2 })).toEqual([2, 10])
  expect(await counts({ limit: 99 })).toEqual([15, 10])
})

it('ranks a word of a name above the same in a description', async () => {
  const both = [tool('archive', 'Moves an invoice away.'), tool('invoice', 'Moves a thing away.')]
  const { call } = await connect({}, [new MemoryServer('shop', both, true)])
  const [first] = textsOf(await call('find_tools', { query: 'moves an invoice' }))
  expect(JSON.parse(first!).name).toBe('invoice')
})

it.each([
  [400, 'many: t0, t1, '],
  [401, '\nmany: 401 tools'],
])('names up to 400 tools in the description, and counts more: %i', async (count, said) => {
  const many = Array.from({ length: count }, (_, at) => tool(`t${at}`, 'Does it.'))
  const { list } = await connect({}, [new MemoryServer('many', many, true)])
  const description = (await list()).find(({ name }) => name === 'find_tools')!.description
  expect(description).toContain(said)
  expect(description!.includes('t399')).toBe(count === 400)
})
