import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { configSchema } from '../../../src/config/config.ts'
import { decode, encode } from '../../../src/index.ts'
import type { EmbeddedService } from '../../../src/service/embedded/embedded.ts'
import { eventually } from '../../support/eventually.ts'
import { openLines } from '../../support/mcp/line-client.ts'
import { RecordingUpstream } from '../../support/mcp/recording-upstream.ts'
import { someOf } from '../../support/short-runs.ts'
import { startSmallEmbedded } from '../../support/small-service.ts'

const ROWS = Array.from({ length: 40 }, (_, id) => ({ id, name: `item ${id}`, state: 'open' }))
const ROWS_JSON = JSON.stringify(ROWS)
const LOG = Array.from({ length: 2000 }, (_, i) => `10:00:0${i % 10} INFO request ${i} served`)

const folder = mkdtempSync(join(tmpdir(), 'haversack-gateway-'))
const base = { data_dir: folder, workers: { count: 1 }, limits: { drain_grace_ms: 0 } }
let service: EmbeddedService
beforeAll(async () => {
  service = await startSmallEmbedded(configSchema.parse(base))
})
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true })
})

/** A client that writes lines, and reads lines. */
const CLIENT = { name: 'test', version: '1' }

async function connect(servers: object, clientInfo: object = CLIENT, { deps } = service) {
  const { lines, send } = openLines({ deps, base, servers })
  const answerTo = async (id: string): Promise<string> => {
    await eventually(() => expect(lines.some(line => isAnswer(line, id))).toBe(true))
    return lines.find(line => isAnswer(line, id)) as string
  }
  let last = 0
  const request = async (method: string, params: string | object = {}) => {
    const id = String(++last)
    const text = typeof params === 'string' ? params : JSON.stringify(params)
    send(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${text}}`)
    return JSON.parse(await answerTo(id))
  }
  const capabilities = { sampling: {}, elicitation: {} }
  const hello = await request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities,
    clientInfo,
  })
  send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
  return { lines, send, answerTo, request, hello }
}

const isAnswer = (line: string, id: string) =>
  line.startsWith(`{"jsonrpc":"2.0","id":${id},`) && !line.includes('"method":')

async function recording(options: Parameters<typeof RecordingUpstream.start>[0]) {
  const upstream = await RecordingUpstream.start(options)
  onTestFinished(() => upstream.close())
  return upstream
}

const text = (content: string) => `{"content":[{"type":"text","text":${JSON.stringify(content)}}]}`

describe.each(someOf(['legacy', 'modern'] as const, 1))('a gateway before a %s server', era => {
  it('offers its tools and passes calls on, byte for byte', async () => {
    const upstream = await recording({ era })
    const { request, send, answerTo, hello } = await connect({ one: { url: upstream.url } })
    expect(hello.result).toMatchObject({
      protocolVersion: '2025-06-18',
      serverInfo: { name: 'haversack' },
      capabilities: { tools: { listChanged: true } },
    })
    const { result } = await request('tools/list')
    expect(result.tools.map((tool: { name: string }) => tool.name)).toEqual(['echo'])
    upstream.on('tools/call', exchange =>
      exchange.result('{"content":[],"n":1.0,"big":12345678901234567890}'),
    )
    const args = '{"n":1.0,"big":12345678901234567890,"text":"\\u0061"}'
    send(
      `{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"echo","arguments":${args}}}`,
    )
    expect(await answerTo('"x"')).toMatch(/"n":1\.0,"big":12345678901234567890[,}]/)
    const [call] = upstream.callsOf('tools/call')
    expect(call?.bytes.toString()).toContain(`"arguments":${args}`)
  })

  it('makes results smaller, and none of its errors shorter', async () => {
    const upstream = await recording({ era })
    upstream.on('tools/call', exchange => exchange.result(text(ROWS_JSON)))
    const { request } = await connect({ one: { url: upstream.url } })
    const { result } = await request('tools/call', { name: 'echo', arguments: {} })
    const packed = result.content[0].text
    expect(packed.length).toBeLessThan(ROWS_JSON.length / 2)
    const { format } = encode({ content: ROWS_JSON, tool: 'mcp__one__echo' })
    expect(JSON.parse(decode({ content: packed, format }).content)).toEqual(ROWS)
  })

  it('passes progress on before the result, and never after it', async () => {
    const upstream = await recording({ era })
    upstream.on('tools/call', exchange => {
      const token = /"progressToken":("[^"]*"|\d+)/.exec(exchange.call.bytes.toString())?.[1]
      exchange.notify('notifications/progress', `{"progressToken":${token},"progress":1}`)
      exchange.result(text('done'))
      exchange.notify('notifications/progress', `{"progressToken":${token},"progress":2}`)
    })
    const { request, lines } = await connect({ one: upstream.stdio.command() })
    const params = { name: 'echo', arguments: {}, _meta: { progressToken: 'mine' } }
    await request('tools/call', params)
    await request('ping')
    const progress = lines.filter(line => line.includes('notifications/progress'))
    expect(progress.map(line => JSON.parse(line).params)).toEqual([
      { progressToken: 'mine', progress: 1 },
    ])
  })

  it('tells the model which server died', async () => {
    const upstream = await recording({ era })
    upstream.on('tools/call', ({ channel }) => channel.die())
    const { request } = await connect({ one: { url: upstream.url } })
    const { result } = await request('tools/call', { name: 'echo', arguments: {} })
    expect(result).toMatchObject({ isError: true })
    expect(result.content[0].text).toContain('"one"')
  })
})

describe('a call of a tool', () => {
  it('whose name is as long as a book is refused without it', async () => {
    const upstream = await recording({ era: 'legacy' })
    const { request } = await connect({ one: { url: upstream.url } })
    const { error } = await request('tools/call', { name: 'x'.repeat(5_000_000) })
    expect(error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('needs one name'),
    })
    expect(error.message.length).toBeLessThan(400)
  })

  it('is counted by its server and its end, and its trace goes on', async () => {
    const upstream = await recording({ era: 'legacy' })
    upstream.on('tools/call', exchange => {
      const dies = exchange.call.bytes.includes('die')
      return dies ? exchange.channel.die() : exchange.result(text(ROWS_JSON))
    })
    const { request } = await connect({ counted: { url: upstream.url } })
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    await request('tools/call', { name: 'echo', arguments: {}, _meta: { traceparent } })
    await request('tools/call', { name: 'echo', arguments: { die: true } })
    expect(upstream.callsOf('tools/call')[0]?.bytes.toString()).toContain(traceparent)
    const metrics = await service.deps.metrics.registry.metrics()
    const figureOf = (name: string) =>
      Number.parseFloat(metrics.split(`haversack_mcp_${name} `)[1] ?? '')
    expect(figureOf('calls_total{upstream="counted",outcome="result"}')).toBe(1)
    expect(figureOf('calls_total{upstream="counted",outcome="lost"}')).toBe(1)
    expect(figureOf('added_seconds_count{upstream="counted"}')).toBe(2)
    expect(figureOf('connections{upstream="counted"}')).toBe(1)
    const before = figureOf('tokens_before_total{upstream="counted"}')
    expect(before).toBeGreaterThan(figureOf('tokens_after_total{upstream="counted"}'))
  })
})

describe('a gateway before several servers', () => {
  it('offers tools under their servers’ names, and knows no others', async () => {
    const [a, b] = await Promise.all([recording({ era: 'legacy' }), recording({ era: 'modern' })])
    a.on('tools/call', exchange => exchange.result(text('from a')))
    b.on('tools/call', exchange => exchange.result(text('from b')))
    const { request } = await connect({ b: { url: b.url }, a: { url: a.url } })
    const { result } = await request('tools/list')
    expect(result.tools.map((tool: { name: string }) => tool.name)).toEqual(['a__echo', 'b__echo'])
    for (const name of ['a', 'b']) {
      const call = await request('tools/call', { name: `${name}__echo`, arguments: {} })
      expect(call.result.content[0].text).toBe(`from ${name}`)
    }
    const unknown = await request('tools/call', { name: 'echo', arguments: {} })
    expect(unknown.error.code).toBe(-32602)
  })

  it('serves the others if one is down', async () => {
    const upstream = await recording({ era: 'legacy' })
    const dead = { command: process.execPath, args: ['-e', 'process.exit(3)'] }
    const { request } = await connect({ dead, good: { url: upstream.url } })
    const { result } = await request('tools/list')
    expect(result.tools.map((tool: { name: string }) => tool.name)).toEqual(['good__echo'])
  })

  it('shows the newest list, and all of its pages', async () => {
    let version = 0
    const upstream = await recording({ era: 'legacy' })
    upstream.on('tools/list', exchange => {
      const tool = `{"name":"t${version}","inputSchema":{"type":"object"}}`
      const isFirst = !exchange.call.bytes.toString().includes('"cursor"')
      exchange.result(isFirst ? '{"tools":[],"nextCursor":"2"}' : `{"tools":[${tool}]}`)
    })
    const { request } = await connect({ one: upstream.stdio.command() })
    const names = async () =>
      (await request('tools/list')).result.tools.map((tool: { name: string }) => tool.name)
    expect(await names()).toEqual(['t0'])
    for (version = 1; version < 50; version++) upstream.announce('notifications/tools/list_changed')
    await eventually(async () => expect(await names()).toEqual(['t50']))
    expect(upstream.callsOf('tools/list').length).toBeLessThan(40)
  })

  it('reports a list that changed, once for a burst', async () => {
    const tools = ['{"name":"echo","inputSchema":{"type":"object"}}']
    const upstream = await recording({ era: 'legacy' })
    upstream.on('tools/list', exchange => exchange.result(`{"tools":[${tools.join(',')}]}`))
    const { request, lines } = await connect({
      one: upstream.stdio.command(),
    })
    await request('tools/list')
    tools.push('{"name":"more","inputSchema":{"type":"object"}}')
    for (let i = 0; i < 5; i++) upstream.announce('notifications/tools/list_changed')
    const changes = () => lines.filter(line => line.includes('tools/list_changed'))
    await eventually(() => expect(changes()).toHaveLength(1))
    const { result } = await request('tools/list')
    expect(result.tools).toHaveLength(2)
    expect(changes()).toHaveLength(1)
  })
})

describe('results that may have parts left out', () => {
  it('name an original that the client can fetch', async () => {
    const upstream = await recording({ era: 'legacy' })
    upstream.on('tools/call', exchange => exchange.result(text(LOG.join('\n'))))
    const { request } = await connect({
      one: { url: upstream.url, mode: 'elide', budget_tokens: 500 },
    })
    const list = await request('tools/list')
    expect(list.result.tools.at(-1).name).toBe('haversack_retrieve')
    const { result } = await request('tools/call', { name: 'echo', arguments: {} })
    const shown = result.content[0].text
    expect(shown.length).toBeLessThan(LOG.join('\n').length / 3)
    const hash = /hash=([0-9a-f]+)/.exec(shown)?.[1]
    const part = await request('tools/call', {
      name: 'haversack_retrieve',
      arguments: { hash, lines: '1000-1002' },
    })
    expect(part.result.content[0].text).toBe(`${LOG.slice(999, 1002).join('\n')}\n`)
  })

  it('give what they do not show by their hash alone, and are searched without one', async () => {
    const orders = ROWS.map(({ id }) => ({ note: `word${id * 7} of ${id}` }))
    const upstream = await recording({ era: 'legacy' })
    upstream.on('tools/call', exchange => exchange.result(text(JSON.stringify({ orders }))))
    const { request } = await connect({
      one: { url: upstream.url, mode: 'elide', budget_tokens: 150 },
    })
    const call = async (name: string, args: object = {}) => {
      const { result } = await request('tools/call', { name, arguments: args })
      return result.content.map((each: { text: string }) => each.text).join('\n') as string
    }
    const shown = await call('echo')
    const hash = /hash=([0-9a-f]+)/.exec(shown)?.[1]
    const [, gap] = /… (\d+) not shown/.exec(shown) ?? []
    const missing = await call('haversack_retrieve', { hash })
    expect(missing).toMatch(new RegExp(String.raw`\$\.orders\[\d+:\d+\]"?\[${gap}\]:`))
    expect(missing).toContain('word140')
    expect(missing).not.toContain('word0 ')
    expect(missing).not.toContain('{"note"')
    const whole = await call('haversack_retrieve', { hash, all: true })
    expect(decode({ content: whole, format: 'tree@2' }).content).toBe(JSON.stringify({ orders }))
    expect(await call('haversack_retrieve', { query: 'word140' })).toContain('word140 of 20')
    const other = await connect({ one: { url: upstream.url } })
    const unknown = await other.request('tools/call', {
      name: 'haversack_retrieve',
      arguments: { query: 'word140' },
    })
    expect(JSON.stringify(unknown)).not.toContain('word140 of 20')
  })

  it('are refused to be shortened if they are errors', async () => {
    const upstream = await recording({ era: 'legacy' })
    const failed = text(LOG.join('\n')).replace(/}$/, ',"isError":true}')
    upstream.on('tools/call', exchange => exchange.result(failed))
    const { request } = await connect({
      one: { url: upstream.url, mode: 'elide', budget_tokens: 500 },
    })
    const { result } = await request('tools/call', { name: 'echo', arguments: {} })
    expect(result.content[0].text).not.toContain(' not shown | hash=')
  })
})

describe('a structured value', () => {
  const definition =
    '{"name":"rows","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}'
  const structured = `{"content":[],"structuredContent":{"rows":${ROWS_JSON}}}`

  it.each([
    ['claude-code', false],
    ['some-client', true],
  ])('is shown to the model as %s shows it', async (name, isKept) => {
    const upstream = await recording({ era: 'legacy' })
    upstream.on('tools/list', exchange => exchange.result(`{"tools":[${definition}]}`))
    upstream.on('tools/call', exchange => exchange.result(structured))
    const { request } = await connect({ one: { url: upstream.url } }, { name, version: '2' })
    const { result: list } = await request('tools/list')
    expect('outputSchema' in list.tools[0]).toBe(isKept)
    const { result } = await request('tools/call', { name: 'rows', arguments: {} })
    expect('structuredContent' in result).toBe(isKept)
    if (isKept) return
    const content = `{"rows":${ROWS_JSON}}`
    const { format } = encode({ content, tool: 'mcp__one__rows' })
    expect(JSON.parse(decode({ content: result.content[0].text, format }).content).rows).toEqual(
      ROWS,
    )
  })
})

describe('what a server asks of the client', () => {
  it('reaches the client, and its answer the server', async () => {
    const upstream = await recording({ era: 'modern' })
    upstream.on('tools/call', exchange => {
      const body = exchange.call.bytes.toString()
      if (body.includes('"inputResponses"'))
        exchange.result(
          `{"resultType":"complete",${text(body.includes('"Ada"') ? 'hello Ada' : 'who?').slice(1)}`,
        )
      else
        exchange.result(
          '{"resultType":"input_required","inputRequests":{"who":{"method":"elicitation/create","params":{"message":"name?","requestedSchema":{"type":"object","properties":{}}}}},"requestState":"s1"}',
        )
    })
    const { send, lines, answerTo } = await connect({ one: { url: upstream.url } })
    send('{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"echo","arguments":{}}}')
    const asked = () => lines.find(line => line.includes('"elicitation/create"'))
    await eventually(() => expect(asked()).toBeDefined())
    const { id } = JSON.parse(asked() as string)
    send(`{"jsonrpc":"2.0","id":"${id}","result":{"action":"accept","content":{"name":"Ada"}}}`)
    expect(await answerTo('"c"')).toContain('hello Ada')
    const retry = upstream.callsOf('tools/call').at(-1)?.bytes.toString()
    expect(retry).toContain('"requestState":"s1"')
  })
})

describe.each(someOf(['legacy', 'modern'] as const, 1))('a resource of a %s server', era => {
  it('is watched for a client of an earlier revision', async () => {
    const upstream = await recording({ era })
    const { request, lines } = await connect({ one: { url: upstream.url } })
    const updates = () => lines.filter(line => line.includes('resources/updated'))
    expect((await request('resources/subscribe', { uri: 'a://1' })).result).toEqual({})
    upstream.announce('notifications/resources/updated', '"uri":"a://1"')
    await eventually(() => expect(updates()[0]).toContain('"uri":"a://1"'))
    expect(updates()[0]).not.toContain('subscriptionId')
    expect((await request('resources/unsubscribe', { uri: 'a://1' })).result).toEqual({})
  })
})

describe('a client that cancels a call', () => {
  it('is asked nothing more for it', async () => {
    const upstream = await recording({ era: 'modern' })
    const question =
      '{"resultType":"input_required","inputRequests":{"7":{"method":"elicitation/create","params":{"n":1.0,"big":12345678901234567890}}}}'
    upstream.on('tools/call', exchange => exchange.result(question))
    const { send, lines, request } = await connect({ one: { url: upstream.url } })
    send('{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"echo"}}')
    const asked = () => lines.filter(line => line.includes('"elicitation/create"'))
    await eventually(() => expect(asked()).toHaveLength(1))
    expect(asked()[0]).toContain('"params":{"n":1.0,"big":12345678901234567890}')
    send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c"}}')
    const withdrawn = () => lines.filter(line => line.includes('notifications/cancelled'))
    await eventually(() => expect(withdrawn()).toHaveLength(1))
    expect((await request('ping')).result).toEqual({})
    expect(lines.filter(line => isAnswer(line, '"c"'))).toEqual([])
    expect(asked()).toHaveLength(1)
  })
})

describe('a client that speaks wrongly', () => {
  it('is answered, and can go on', async () => {
    const { send, lines, request } = await connect({})
    for (const line of ['{', '[]', '{"jsonrpc":"1.0","id":1,"method":"ping"}', '']) send(line)
    await eventually(() => expect(lines.filter(line => line.includes('-32700'))).toHaveLength(2))
    // Its id could be read.
    await eventually(() =>
      expect(lines.some(line => /"id":1,"error".*-32600/.test(line))).toBe(true),
    )
    expect((await request('no/such')).error.code).toBe(-32601)
    expect((await request('tools/list', '{"cursor":"x"}')).error.code).toBe(-32602)
    expect((await request('ping')).result).toEqual({})
  })
})

// Contract, section 8: reads of offers run in the worker threads.
describe('a gateway that makes calls ahead', () => {
  it('answers from what it fetched, over a real connection', async () => {
    const annotations = { readOnlyHint: true, openWorldHint: false }
    const inputSchema = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }
    const tools = JSON.stringify([
      { name: 'list', inputSchema: { type: 'object' }, annotations },
      { name: 'get', inputSchema, annotations },
    ])
    const upstream = await recording({ era: 'legacy', tools })
    upstream.on('tools/call', exchange => {
      const isList = exchange.call.bytes.toString().includes('"name":"list"')
      exchange.result(text(isList ? '[{"id":"a"}]' : 'the item'))
    })
    const link = { tool: 'get', probability: 1, projection: 'id', projection_arg: 'id' }
    const enriched = await startSmallEmbedded(
      configSchema.parse({
        ...base,
        data_dir: mkdtempSync(join(folder, 'ahead-')),
        enrichment: { enabled: true },
        tools: { list: { follow_up: [link] } },
      }),
    )
    onTestFinished(() => enriched.close())
    const { request } = await connect(
      { one: { url: upstream.url, trusted: true } },
      CLIENT,
      enriched,
    )
    await request('tools/call', { name: 'list', arguments: {} })
    await eventually(() => expect(upstream.callsOf('tools/call').length).toBe(2))
    const { result } = await request('tools/call', { name: 'get', arguments: { id: 'a' } })
    expect(result.content).toEqual([{ type: 'text', text: 'the item' }])
    expect(upstream.callsOf('tools/call').length).toBe(2)
  })
})

describe('a call whose connection is cut before its answer', () => {
  it.each([
    [true, { readOnlyHint: true }, 2],
    [true, { idempotentHint: true }, 2],
    [true, {}, 1],
    [false, { readOnlyHint: true, idempotentHint: true }, 1],
  ])(
    'to a server that is trusted (%s), of a tool with %j, is sent %i times',
    async (trusted, annotations, times) => {
      const tool = { name: 'pay', inputSchema: { type: 'object' }, annotations }
      const upstream = await recording({ era: 'modern', tools: JSON.stringify([tool]) })
      upstream.on('tools/call', exchange => exchange.channel.die())
      const { request } = await connect({ one: { url: upstream.url, trusted } })
      await request('tools/call', { name: 'pay', arguments: {} })
      expect(upstream.callsOf('tools/call')).toHaveLength(times)
    },
  )
})
