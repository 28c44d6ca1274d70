import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { ModernServerOptions } from '../../../src/mcp/fronts/modern/modern-server.ts'
import { eventually } from '../../support/eventually.ts'
import { allOf, messagesOf, type PostOptions, post } from '../../support/mcp/modern-client.ts'
import { type GatewayHost, startGatewayHost } from '../../support/mcp/modern-gateway.ts'
import { RecordingUpstream } from '../../support/mcp/recording-upstream.ts'

const M = 'io.modelcontextprotocol/'
const ERAS = ['legacy', 'modern'] as const
const TASKS = { extensions: { [`${M}tasks`]: {} } }

let host: GatewayHost
beforeAll(async () => {
  host = await startGatewayHost()
})
afterAll(() => host.close())

async function setUp(
  options: Parameters<typeof RecordingUpstream.start>[0],
  changed?: Partial<ModernServerOptions>,
) {
  const upstream = await RecordingUpstream.start(options)
  onTestFinished(() => upstream.close())
  const server = await host.serve({ one: { url: upstream.url } }, changed)
  let isOpen = true
  const close = async () => {
    if (isOpen) await server.close()
    isOpen = false
  }
  onTestFinished(close)
  const send = (method: string, params?: string | object, more?: PostOptions) =>
    post(server.url, method, params, more)
  const request = async (method: string, params?: string | object, more?: PostOptions) => {
    const response = await send(method, params, more)
    const messages = await allOf(response)
    return { status: response.status, messages, ...messages.at(-1) } as unknown as {
      status: number
      messages: Record<string, unknown>[]
      result: Record<string, unknown> & { _meta: object }
      error: { code: number; data?: object }
    }
  }
  return { upstream, send, request, url: server.url, close }
}

describe.each(ERAS)('a client of 2026-07-28 before a %s server', era => {
  it('learns what is there, and calls it', async () => {
    const { upstream, request } = await setUp({ era })
    const hello = await request('server/discover')
    const serverInfo = { [`${M}serverInfo`]: { name: 'haversack', version: '0' } }
    expect(hello.result).toMatchObject({
      resultType: 'complete',
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: { listChanged: true } },
      _meta: serverInfo,
    })
    const list = await request('tools/list')
    expect(list.result).toMatchObject({
      ...{ resultType: 'complete', ttlMs: 0, cacheScope: 'private', _meta: serverInfo },
      tools: [{ name: 'echo' }],
    })
    const args = '{"n":1.0,"big":12345678901234567890}'
    const result = '"n":1.0,"big":12345678901234567890'
    upstream.on('tools/call', exchange =>
      exchange.result(
        `{"content":[],${result}${era === 'modern' ? ',"resultType":"complete"' : ''}}`,
      ),
    )
    const answer = await request('tools/call', `{"name":"echo","arguments":${args}}`)
    expect(answer.status).toBe(200)
    expect(answer.result).toMatchObject({ resultType: 'complete', content: [] })
    expect(upstream.callsOf('tools/call')[0]?.bytes.toString()).toContain(args)
  })

  it('gets a result as the bytes that it was, completed if it must be', async () => {
    const { upstream, send } = await setUp({ era })
    const own = '{"content":[],"_meta":{"x":1.0} ,"big":12345678901234567890'
    const type = ',"resultType":"complete"'
    upstream.on('tools/call', exchange =>
      exchange.result(era === 'modern' ? `${own}${type}}` : `${own}}`),
    )
    const text = await (await send('tools/call', { name: 'echo' })).text()
    const info = `"${M}serverInfo":{"name":"haversack","version":"0"}`
    const completed = `${own.replace('1.0}', `1.0,${info}}`)}${type}}`
    const expected = era === 'modern' ? `${own}${type}}` : completed
    expect(text).toBe(`{"jsonrpc":"2.0","id":7,"result":${expected}}`)
  })

  it('hears progress and logs only if it asks, and nothing after the result', async () => {
    const { upstream, request } = await setUp({ era })
    upstream.on('tools/call', exchange => {
      const token = /"progressToken":("[^"]*"|\d+)/.exec(exchange.call.bytes.toString())?.[1]
      exchange.notify('notifications/progress', `{"progressToken":${token ?? '"x"'},"progress":1}`)
      for (const level of ['debug', 'error']) {
        exchange.notify('notifications/message', `{"level":"${level}","data":1.0}`)
      }
      exchange.result('{"content":[],"resultType":"complete"}')
    })
    const silent = await request('tools/call', { name: 'echo' })
    expect(silent.messages).toHaveLength(1)
    const meta = { progressToken: 'mine', [`${M}logLevel`]: 'warning' }
    const { messages } = await request('tools/call', { name: 'echo' }, { meta })
    expect(messages.map(({ method, params }) => [method, params])).toEqual([
      ['notifications/progress', { progressToken: 'mine', progress: 1 }],
      ['notifications/message', { level: 'error', data: 1 }],
      [undefined, undefined],
    ])
  })

  it('cancels a call by closing its stream', async () => {
    const { upstream, send } = await setUp({ era })
    const gone = Promise.withResolvers<void>()
    upstream.on('tools/call', exchange => {
      const token = /"progressToken":(\d+)/.exec(exchange.call.bytes.toString())?.[1]
      exchange.notify('notifications/progress', `{"progressToken":${token},"progress":1}`)
      void exchange.channel.gone.then(gone.resolve)
    })
    const meta = { progressToken: 1 }
    const answer = await send('tools/call', { name: 'echo' }, { meta })
    const reader = answer.body!.getReader()
    await reader.read()
    await reader.cancel()
    await gone.promise
    if (era === 'legacy') {
      await eventually(() => expect(upstream.callsOf('notifications/cancelled')).toHaveLength(1))
    }
  })

  it('is told of changes that it listens for, and of no others', async () => {
    const tools = ['{"name":"echo","inputSchema":{"type":"object"}}']
    const { upstream, send, close } = await setUp({ era })
    upstream.on('tools/list', exchange => exchange.result(`{"tools":[${tools.join(',')}]}`))
    const asked = { toolsListChanged: true, promptsListChanged: true }
    const params = { notifications: { ...asked, resourceSubscriptions: ['a://1'] } }
    const open = await send('subscriptions/listen', params, { id: '"sub"' })
    const messages = messagesOf(open)
    const next = async () => (await messages.next()).value
    const _meta = { [`${M}subscriptionId`]: 'sub' }
    const granted = { toolsListChanged: true, resourceSubscriptions: ['a://1'] }
    expect(await next()).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: granted, _meta },
    })
    upstream.announce('notifications/resources/updated', '"uri":"a://2"')
    upstream.announce('notifications/resources/updated', '"uri":"a://1"')
    expect(await next()).toMatchObject({
      method: 'notifications/resources/updated',
      params: { uri: 'a://1', _meta },
    })
    tools.push('{"name":"more","inputSchema":{"type":"object"}}')
    upstream.announce('notifications/tools/list_changed')
    expect(await next()).toMatchObject({
      method: 'notifications/tools/list_changed',
      params: { _meta },
    })
    const closed = close()
    expect(await next()).toMatchObject({ id: 'sub', result: { resultType: 'complete', _meta } })
    expect((await messages.next()).done).toBe(true)
    await closed
  })

  it('shares what it watches, and gives it up with the last that listens', async () => {
    const { upstream, send } = await setUp({ era })
    const watched = () =>
      era === 'legacy'
        ? upstream.callsOf('resources/subscribe')
        : upstream
            .callsOf('subscriptions/listen')
            .filter(call => String(call.bytes).includes('a://'))
    const open = async () => {
      const params = { notifications: { resourceSubscriptions: ['a://1'] } }
      const gone = new AbortController()
      const response = await send('subscriptions/listen', params, { signal: gone.signal })
      await response.body!.getReader().read()
      return gone
    }
    const [first, second] = [await open(), await open()]
    expect(watched()).toHaveLength(1)
    first.abort()
    second.abort()
    if (era === 'legacy') {
      await eventually(() => expect(upstream.callsOf('resources/unsubscribe')).toHaveLength(1))
    }
    await eventually(async () => {
      ;(await open()).abort()
      expect(watched().length).toBeGreaterThan(1)
    })
  })
})

describe('a client of 2026-07-28', () => {
  it('repeats a tool’s parameters in headers, for us and for the server', async () => {
    const property = { type: 'string', 'x-mcp-header': 'Region' }
    const tool = { name: 't', inputSchema: { type: 'object', properties: { region: property } } }
    const bad = { name: 'bad', inputSchema: { type: 'object', 'x-mcp-header': 'X' } }
    const { upstream, request } = await setUp({ era: 'modern', tools: JSON.stringify([tool, bad]) })
    const { result } = await request('tools/list')
    expect((result['tools'] as object[]).length).toBe(1)
    const call = { name: 't', arguments: { region: 'é' } }
    expect(await request('tools/call', call)).toMatchObject({
      status: 400,
      error: { code: -32020 },
    })
    const headers = { 'mcp-param-region': '=?base64?w6k=?=' }
    expect((await request('tools/call', call, { headers })).status).toBe(200)
    expect(upstream.callsOf('tools/call')).toHaveLength(1)
    expect(upstream.callsOf('tools/call')[0]?.http?.headers).toMatchObject(headers)
  })

  it('keeps lists as long as the server says', async () => {
    const { upstream, request } = await setUp({ era: 'modern' })
    const cached = '"resultType":"complete","ttlMs":60000,"cacheScope":"public"'
    upstream.on('tools/list', exchange => exchange.result(`{${cached},"tools":[]}`))
    const { result } = await request('tools/list')
    expect(result).toMatchObject({ ttlMs: 60_000, cacheScope: 'public' })
  })

  it.each<[string, number, number]>([
    ['initialize', 404, -32601],
    ['ping', 404, -32601],
    ['resources/subscribe', 404, -32601],
    ['logging/setLevel', 404, -32601],
    ['__proto__', 404, -32601],
  ])('does not call %s', async (method, status, code) => {
    const { request } = await setUp({ era: 'legacy' })
    expect(await request(method)).toMatchObject({ status, error: { code } })
  })

  it('posts messages of JSON-RPC, and nothing else', async () => {
    const { url } = await setUp({ era: 'legacy' })
    const of = async (body: string, type = 'application/json', method = 'POST') => {
      const headers = { 'content-type': type }
      const init = method === 'POST' ? { method, headers, body } : { method }
      const response = await fetch(url, init)
      const text = await response.text()
      return [response.status, text === '' ? null : JSON.parse(text).error.code]
    }
    const notification = '{"jsonrpc":"2.0","method":"notifications/cancelled"}'
    expect(await of('{')).toEqual([400, -32700])
    expect(await of('[]')).toEqual([400, -32600])
    expect(await of('{}', 'text/plain')).toEqual([415, null])
    expect(await of('', '', 'GET')).toEqual([405, null])
    expect(await of(notification, 'application/json; charset=utf-8')).toEqual([202, null])
    expect(await of('{"jsonrpc":"2.0","id":1,"method":"tools/list"}')).toEqual([400, -32602])
  })

  it('is told of a missing resource with its URI', async () => {
    const { upstream, request } = await setUp({ era: 'legacy' })
    upstream.on('resources/read', exchange => exchange.error('{"code":-32002,"message":"no"}'))
    const answer = await request('resources/read', { uri: 'a://b' })
    expect(answer).toMatchObject({ status: 200, error: { code: -32602, data: { uri: 'a://b' } } })
  })

  it('follows its task at the server that has it', async () => {
    const { upstream, request } = await setUp({ era: 'modern' })
    upstream.on('tools/call', exchange =>
      exchange.result('{"resultType":"task","taskId":"t-1","status":"working"}'),
    )
    upstream.on('tasks/get', exchange =>
      exchange.result('{"resultType":"complete","taskId":"t-1","status":"completed"}'),
    )
    const declared = { capabilities: TASKS }
    const { result } = await request('tools/call', { name: 'echo' }, declared)
    const { taskId } = result
    expect(taskId).not.toContain('t-1')
    const got = await request('tasks/get', { taskId }, declared)
    expect(got.result).toMatchObject({ taskId, status: 'completed' })
    expect(upstream.callsOf('tasks/get')[0]?.http?.headers['mcp-name']).toBe('t-1')
    expect((await request('tasks/get', { taskId })).error.code).toBe(-32021)
    for (const [id, caller] of [
      ['t-1', 'local/none'],
      [taskId, 'other/none'],
    ]) {
      const refused = await request(
        'tasks/get',
        { taskId: id },
        { ...declared, caller: caller as string },
      )
      expect(refused.error.code).toBe(-32602)
    }
    expect(upstream.callsOf('tasks/get')).toHaveLength(1)
  })

  it('shares connections with its likes only', async () => {
    const { upstream, request } = await setUp(
      { era: 'legacy' },
      { limits: { gatewaysOfCaller: 2 } },
    )
    const kinds: PostOptions[] = [
      {},
      {},
      { capabilities: { sampling: {} } },
      { caller: 'other/none' },
      { caller: 'local/second' },
      { meta: { [`${M}clientInfo`]: { name: 'n', version: '1' } } },
    ]
    for (const kind of kinds) await request('tools/call', { name: 'echo' }, kind)
    const hellos = upstream.callsOf('initialize').map(call => JSON.parse(String(call.bytes)).params)
    expect(hellos.map(({ capabilities }) => capabilities)).toEqual([
      {},
      { sampling: {} },
      {},
      {},
      {},
    ])
    // The third kind of one caller took the place of the first.
    await request('tools/call', { name: 'echo' }, { capabilities: { sampling: {} } })
    expect(upstream.callsOf('initialize')).toHaveLength(5)
    await request('tools/call', { name: 'echo' })
    expect(upstream.callsOf('initialize')).toHaveLength(6)
  })

  it('opens as many streams as it may, and no more', async () => {
    const limits = { listensOfCaller: 2, listens: 3 }
    const { send, request } = await setUp({ era: 'legacy' }, { limits })
    const params = { notifications: { toolsListChanged: true } }
    const listen = (caller: string) => send('subscriptions/listen', params, { caller })
    const refused = async (caller: string) =>
      expect(await request('subscriptions/listen', params, { caller })).toMatchObject({
        status: 200,
        error: { code: -32603 },
      })
    const open = [await listen('a/1'), await listen('a/1')]
    await refused('a/1')
    open.push(await listen('b/1'))
    await refused('c/1')
    expect(open.map(({ headers }) => headers.get('content-type'))).toEqual(
      Array(3).fill('text/event-stream'),
    )
    await open[0]!.body!.cancel()
    const again = await eventually(async () => {
      const response = await listen('a/1')
      expect(response.headers.get('content-type')).toBe('text/event-stream')
      return response
    })
    for (const { body } of [...open.slice(1), again]) await body!.cancel()
  })

  it.each([
    ['nothing', {}],
    ['a flag that is a text', { notifications: { toolsListChanged: 'yes' } }],
    ['URIs that are none', { notifications: { resourceSubscriptions: [7] } }],
    ['101 URIs', { notifications: { resourceSubscriptions: Array.from({ length: 101 }, String) } }],
  ])('cannot listen for %s', async (_, params) => {
    const { request } = await setUp({ era: 'legacy' })
    expect(await request('subscriptions/listen', params)).toMatchObject({
      status: 200,
      error: { code: -32602 },
    })
  })

  it('is answered at once if there is nothing to listen for', async () => {
    const { request } = await setUp({ era: 'legacy', capabilities: '{"tools":{}}' })
    const { messages, result } = await request('subscriptions/listen', {
      notifications: { promptsListChanged: true },
    })
    expect(messages).toHaveLength(2)
    expect(result['resultType']).toBe('complete')
  })
})
