import { describe, expect, it } from 'vitest'
import type { ToolModels } from '../../../../src/core/enrich/value-model.ts'
import {
  connectMemory,
  type MemoryGatewayOptions,
  MemoryServer,
  makeEnrichment,
  textResult,
} from '../../../support/mcp/memory-gateway.ts'

const SCHEMA = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }
const READS = { annotations: { readOnlyHint: true, openWorldHint: false } }
const TOOLS = [
  { name: 'list', inputSchema: { type: 'object' }, ...READS },
  { name: 'get', inputSchema: SCHEMA, ...READS },
  { name: 'parts', inputSchema: SCHEMA, ...READS },
  { name: 'set', inputSchema: { type: 'object' } },
]
const LINK = { tool: 'get', probability: 1, projection: 'id', projection_arg: 'id' }
const MODELS: ToolModels = { list: { follow_up: [LINK] } }

const listOf = (...ids: string[]) => textResult(JSON.stringify(ids.map(id => ({ id }))))

/** A server whose list names these, and whose `get` counts how often it was asked. */
function makeServer(ids = ['a'], tools: readonly object[] = TOOLS, trusted = true) {
  const server = new MemoryServer('one', tools, trusted)
  let version = 0
  server.handler = ({ tool, args }) => {
    if (tool === 'list') return listOf(...ids)
    if (tool === 'set') version++
    return textResult(`${tool} ${args} at ${version}`)
  }
  return server
}

async function setUp(options: MemoryGatewayOptions = {}, server = makeServer()) {
  return { server, ...(await connectMemory([server], { tools: MODELS, ...options })) }
}

const textOf = (result: { content: { text: string }[] }) => result.content.map(({ text }) => text)

// Contract, section 8; SOURCES.md#planner, "Race strategy".
describe('a call that was made ahead', () => {
  it('answers the call of the model, as if it had been made', async () => {
    const { server, call, settled, bugs } = await setUp()
    await call('list')
    await settled()
    expect(server.argsOf('get')).toEqual(['{"id":"a"}'])
    expect(textOf(await call('get', '{ "id" : "\\u0061" }'))).toEqual(['get {"id":"a"} at 0'])
    expect(server.argsOf('get').length).toBe(1)
    await call('get', { id: 'a' })
    expect(server.argsOf('get').length).toBe(2)
    expect(bugs).toEqual([])
  })

  it('is joined while it is on its way, and made again if it failed', async () => {
    const { server, call, settled } = await setUp()
    const { promise, resolve } = Promise.withResolvers<string>()
    const handler = server.handler
    server.handler = received => (received.tool === 'get' ? promise : handler(received))
    await call('list')
    await settled()
    const joined = call('get', { id: 'a' })
    server.handler = handler
    resolve(textResult('no', { isError: true }))
    expect(textOf(await joined)).toEqual(['get {"id":"a"} at 0'])
    expect(server.argsOf('get').length).toBe(2)
  })

  it('is not made unless calls ahead are on', async () => {
    const { server, call, settled } = await setUp({ settings: { isEnabled: false } })
    await call('list')
    await settled()
    expect(server.argsOf('get')).toEqual([])
  })

  it.each<[string, MemoryGatewayOptions & { readonly server?: MemoryServer }]>([
    ['a server that is not trusted', { server: makeServer(['a'], TOOLS, false) }],
    ['a tool that mined models forbid', { mined: { get: { speculate: false } } }],
    ['a tool that the user forbids', { tools: { ...MODELS, get: { speculate: false } } }],
    ['a probability below the least', { settings: { minProbability: 1.01 } }],
    ['a budget of nothing', { settings: { budgetTokens: 0 } }],
    [
      'a slow and expensive one',
      {
        settings: { isCostAware: true, budgetTokens: 300 },
        // The other call is worth more for the same tokens only if cost counts.
        tools: {
          list: { follow_up: [LINK, { ...LINK, tool: 'parts', probability: 0.9 }] },
          get: { cost_model: { latency_ms_p50: 5_000, dollars: 1 } },
        },
      },
    ],
  ])('is not made for %s', async (_, { server = makeServer(), ...options }) => {
    const { call, settled } = await setUp(options, server)
    await call('list')
    await settled()
    expect(server.argsOf('get')).toEqual([])
  })

  it('goes no further than three at once for one context', async () => {
    const server = makeServer(['a', 'b', 'c'])
    const { call, settled } = await setUp({ maxParallel: 2 }, server)
    await call('list')
    await settled()
    expect(server.argsOf('get').length).toBe(2)
  })

  it('is followed by the calls that require it', async () => {
    const link = { ...LINK, tool: 'parts', requires: 'get', projection: 'part' }
    const offers: unknown[] = []
    const observer: MemoryGatewayOptions['observer'] = event => {
      if (event.kind !== 'dispatched') return
      const { tool, offer } = event.facts
      offers.push([tool, offer.trigger, offer.rank, offer.listed])
    }
    const server = makeServer()
    const handler = server.handler
    server.handler = received =>
      received.tool === 'get' ? textResult('{"part":["p","q"]}') : handler(received)
    const tools = { list: { follow_up: [link, LINK] } }
    const { call, settled } = await setUp({ tools, observer }, server)
    await call('list')
    await settled()
    expect(server.argsOf('parts')).toEqual(['{"id":"p"}', '{"id":"q"}'])
    expect(offers).toEqual([
      ['get', 'list', 1, 1],
      ['parts', 'get', 1, 2],
      ['parts', 'get', 2, 2],
    ])
    await call('parts', { id: 'p' })
    expect(server.argsOf('parts').length).toBe(2)
  })

  it('is not made again for what the model has read, until something changes', async () => {
    const { server, call, settled } = await setUp()
    await call('get', { id: 'a' })
    await call('list')
    await settled()
    expect(server.argsOf('get').length).toBe(1)
    await call('set')
    await call('list')
    await settled()
    expect(server.argsOf('get').length).toBe(2)
  })

  it('reads a URL only of a host that the model has called', async () => {
    const url = 'https://known.example/1'
    const schema = { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] }
    const tools = [
      ...TOOLS,
      { name: 'fetch', inputSchema: schema, annotations: { readOnlyHint: true } },
    ]
    const models: ToolModels = {
      list: {
        follow_up: [{ tool: 'fetch', probability: 1, projection: 'url', projection_arg: 'url' }],
      },
      fetch: { side_effect_class: 'read_only' },
    }
    const server = makeServer([], tools)
    server.handler = ({ tool }) => textResult(tool === 'list' ? JSON.stringify([{ url }]) : 'page')
    const { call, settled } = await setUp({ tools: models }, server)
    await call('list')
    await settled()
    expect(server.argsOf('fetch')).toEqual([])
    await call('fetch', { url: 'https://known.example/other' }, { context: 'x' })
    await call('list')
    await settled()
    expect(server.argsOf('fetch').length).toBe(1)
    await call('list', {}, { context: 'x' })
    await settled()
    expect(server.argsOf('fetch').length).toBe(2)
  })

  it('never asks the user, and is not made twice by a tool that would', async () => {
    const { server, call, settled, asked } = await setUp({}, makeServer(['a']))
    const handler = server.handler
    server.handler = async received => {
      if (received.tool === 'get') {
        await received.call.ask('elicitation/create', null, new AbortController().signal)
      }
      return handler(received)
    }
    await call('list')
    await settled()
    expect(asked).toEqual([])
    await call('list')
    await settled()
    expect(server.argsOf('get').length).toBe(1)
    await call('get', { id: 'a' })
    expect(asked).toEqual(['elicitation/create'])
  })

  it('names itself to the model if it may', async () => {
    const { call } = await setUp({ settings: { announceMs: 1_000 } })
    expect(textOf(await call('list'))).toEqual(['[{"id":"a"}]', '> [prefetched: get(id="a")]'])
  })
})

// Contract, section 8, "Cost".
describe('what results of a tool take', () => {
  it('is learned from the calls of the model too, and from each fetch once', async () => {
    const { call, settled, shared } = await setUp()
    const seen: [string | undefined, number][] = []
    const { observe } = shared.costs
    shared.costs.observe = (tool, names, tokens) => {
      if (JSON.parse(tool)[2] === 'get') seen.push([names, tokens])
      observe(tool, names, tokens)
    }
    await call('get', { id: 'early' })
    await settled()
    expect(seen).toEqual([])
    await call('list')
    await settled()
    await call('get', { id: 'a' })
    await settled()
    const landed = ['["id"]', 'get {"id":"a"} at 0'.length]
    expect(seen).toEqual([landed])
    await call('get', { id: 'longer' })
    await settled()
    expect(seen).toEqual([landed, ['["id"]', 'get {"id":"longer"} at 0'.length]])
  })

  it('is not observed again when a result that offers calls is served', async () => {
    const tools = { ...MODELS, get: { follow_up: [{ ...LINK, tool: 'parts' }] } }
    const { call, settled, shared } = await setUp({ tools })
    const seen: string[] = []
    shared.costs.observe = tool => void seen.push(JSON.parse(tool)[2])
    await call('list')
    await settled()
    await call('get', { id: 'a' })
    await settled()
    expect(seen).toEqual(['list', 'get'])
  })

  it('is no reason for more than three at once, and the fourth is told as declined', async () => {
    const told: string[] = []
    const observer: MemoryGatewayOptions['observer'] = event => {
      if (event.kind === 'declined') told.push(...event.reasons)
    }
    const links = [LINK, { ...LINK, tool: 'parts' }]
    const tools = { list: { follow_up: links } }
    const { call, settled } = await setUp({ tools, observer }, makeServer(['a', 'b']))
    await call('list')
    await settled()
    expect(told).toEqual(['parallel_limit'])
  })
})

describe('a result that was fetched ahead', () => {
  const fetched = async (options: MemoryGatewayOptions = {}) => {
    const all = await setUp(options)
    await all.call('list')
    await all.settled()
    const isFresh = async () => {
      await all.call('get', { id: 'a' })
      return all.server.argsOf('get').length === 2
    }
    return { ...all, isFresh }
  }

  it('is gone once a call may change something', async () => {
    const { call, isFresh } = await fetched()
    await call('set')
    expect(await isFresh()).toBe(true)
  })

  it('is gone once lists or resources change, or the server starts again', async () => {
    for (const method of ['tools/list_changed', 'resources/updated']) {
      const { server, settled, isFresh } = await fetched()
      server.announce(`notifications/${method}`)
      await settled()
      expect(await isFresh()).toBe(true)
    }
    const { server, settled, isFresh } = await fetched()
    server.restart()
    await settled()
    expect(await isFresh()).toBe(true)
  })

  it('is gone once it is too old', async () => {
    const clock = { now: 0 }
    const { isFresh } = await fetched({ now: () => clock.now })
    clock.now = 30_000
    expect(await isFresh()).toBe(true)
  })

  it('is gone with what the agent read, when that was compacted', async () => {
    const { server, call, settled, compact } = await setUp()
    await call('list', {}, { context: 'x' })
    await settled()
    compact('x')
    await call('get', { id: 'a' }, { context: 'x' })
    expect(server.argsOf('get').length).toBe(2)
  })

  it('is for no other client, and gone with its own', async () => {
    const shared = makeEnrichment({ tools: MODELS })
    const { server, gateway } = await fetched({ shared })
    const other = await connectMemory([server], { shared })
    await other.call('get', { id: 'a' })
    expect(server.argsOf('get').length).toBe(2)
    expect(shared.speculation.bytes).toBeGreaterThan(0)
    await gateway.close()
    expect(shared.speculation.bytes).toBe(0)
  })

  it('is not served to a call that says more', async () => {
    const { gateway, server } = await fetched()
    const params = '{"name":"get","arguments":{"id":"a"},"task":{}}'
    await gateway.handle({
      ...{ method: 'tools/call', params: Buffer.from(params), context: null },
      ...{ signal: new AbortController().signal, notify: () => {} },
      ask: async () => ({ kind: 'result', result: Buffer.from('{}') }),
    })
    expect(server.argsOf('get').length).toBe(2)
  })
})

// Contract, section 7; SOURCES.md#planner, patterns 1 and 8.
describe('calls that find nothing', () => {
  const tools: ToolModels = { get: { fail_fast_after_n: 2 } }
  it.each([true, false])('are refused once after the configured number (on: %s)', async on => {
    const { server, call } = await setUp({ tools, settings: { isEnabled: on } })
    server.handler = () => textResult('[]')
    await call('get', { id: '1' })
    await call('get', { id: '2' })
    const refused = await call('get', { id: '3' })
    expect(refused.isError).toBe(true)
    expect(textOf(refused)[0]).toContain('not called: the last 2 calls')
    expect(server.argsOf('get').length).toBe(2)
    await call('get', { id: '3' })
    expect(server.argsOf('get').length).toBe(3)
  })

  it('are refused by a built-in model only if calls ahead are on', async () => {
    const isRefused = async (isEnabled: boolean) => {
      const server = makeServer([], [{ name: 'ToolSearch', ...READS }])
      server.handler = () => textResult('[]')
      const { call } = await setUp({ tools, settings: { isEnabled } }, server)
      await call('ToolSearch', { id: '1' })
      await call('ToolSearch', { id: '2' })
      return (await call('ToolSearch', { id: '3' })).isError === true
    }
    expect([await isRefused(true), await isRefused(false)]).toEqual([true, false])
  })

  it('are made again by another context', async () => {
    const { server, call } = await setUp({ tools })
    server.handler = () => textResult('')
    await call('get', { id: '1' })
    await call('get', { id: '2' })
    await call('get', { id: '3' }, { context: 'other' })
    expect(server.argsOf('get').length).toBe(3)
  })
})

describe('calls with the same result', () => {
  const tools: ToolModels = { get: { poll_ttl_s: 15 } }
  it('say so the third time, and the fourth is answered from it', async () => {
    const clock = { now: 0 }
    const { server, call } = await setUp({ tools, now: () => clock.now })
    const ask = async () => {
      clock.now += 3_000
      return textOf(await call('get', { id: 'a' }))
    }
    expect([await ask(), await ask()].flat()).toEqual(Array(2).fill('get {"id":"a"} at 0'))
    expect((await ask())[1]).toBe('> [unchanged: 3 calls in 6 s]')
    expect((await ask())[1]).toContain('answered from the last one')
    expect(server.argsOf('get').length).toBe(3)
    await ask()
    expect(server.argsOf('get').length).toBe(4)
  })

  it('are not those of another client, whatever its context is called', async () => {
    const shared = makeEnrichment({ tools })
    const { server, call } = await setUp({ shared })
    const other = await connectMemory([server], { shared })
    for (let at = 0; at < 3; at++) await call('get', { id: 'a' }, { context: 'x' })
    await other.call('get', { id: 'a' }, { context: 'x' })
    expect(server.argsOf('get').length).toBe(4)
  })

  it('are made again after a call that may change something', async () => {
    const { server, call } = await setUp({ tools })
    for (let at = 0; at < 3; at++) await call('get', { id: 'a' })
    await call('set')
    expect(textOf(await call('get', { id: 'a' }))).toEqual(['get {"id":"a"} at 1'])
    expect(server.argsOf('get').length).toBe(4)
  })
})

describe('what agents call next', () => {
  it('is learned, kept, and found again', async () => {
    const shared = makeEnrichment({ tools: MODELS })
    const { call, settled, gateway } = await setUp({ shared })
    for (let at = 0; at < 3; at++) {
      await call('list')
      await settled()
      await call('set')
      await call('set')
      await call('set')
    }
    const offer = { trigger: 'list', target: 'get', server: 'one', prior: 1, rank: 1, listed: 1 }
    // (10 + 0) / (10 + 3), before it is written and after that
    expect((await shared.habits.of('t')).of(offer)).toBeCloseTo(10 / 13)
    await gateway.close()
    expect((await shared.habits.of('t')).of(offer)).toBeCloseTo(10 / 13)
    expect((await shared.habits.of('other')).of(offer)).toBe(1)
  })
})
