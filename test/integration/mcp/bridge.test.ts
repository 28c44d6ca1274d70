import type { ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { MODERN_META, openBridge, openLegacyBridge } from '../../support/mcp/bridge-client.ts'
import { createFakeClock } from '../../support/mcp/fake-clock.ts'
import {
  type Answer,
  type Arrived,
  event,
  json,
  notification,
  result,
  rpcError,
  startHttpUpstream,
  stream,
} from '../../support/mcp/http-upstream.ts'

const LISTS = '{"tools":{"listChanged":true},"prompts":{}}'
const NOT_FOUND =
  '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}'

/** A service with sessions for clients of 2025; calls, and streams of GET, are the test's. */
async function startService(
  call: Answer,
  listen: Answer = response => void response.writeHead(405).end(),
) {
  const sessions = new Set<string>()
  let opened = 0
  const answer: Answer = (response, arrived) => {
    const { method, rpcMethod, id } = arrived
    const session = arrived.headers['mcp-session-id']
    if (rpcMethod === 'initialize') {
      sessions.add(`s${++opened}`)
      const facts = `{"protocolVersion":"2025-11-25","capabilities":${LISTS}}`
      return json(response, result(id, facts), 200, { 'mcp-session-id': `s${opened}` })
    }
    if (session !== undefined && !sessions.has(String(session)))
      return json(response, NOT_FOUND, 404)
    if (method === 'GET') return listen(response, arrived)
    if (method === 'DELETE') return response.writeHead(200).end()
    if (id === undefined || rpcMethod === undefined) return response.writeHead(202).end()
    return call(response, arrived)
  }
  const service = await startHttpUpstream(answer)
  onTestFinished(() => service.close())
  return { ...service, answer, sessions }
}

const call = (id: number | string, params = '{"name":"x"}') =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"tools/call","params":${params}}`

/** Answers calls, one with the session that it came by. */
const echo: Answer = (response, { id, headers }: Arrived) =>
  json(response, result(id, `{"by":"${headers['mcp-session-id']}"}`))

describe('messages of a client of 2025', () => {
  it('go to the service and back as the bytes that they are', async () => {
    const odd = '{"content" : [],"n":12345678901234567890, "f":1.0}'
    const service = await startService((response, { id }) => json(response, result(id, odd)))
    const client = await openLegacyBridge(service.url, { key: 'hsk_1' })
    const sent = call(7, '{"name":"x","arguments":{"n":12345678901234567890, "f":1.0},"new":[ ]}')
    client.send(sent)
    expect(await client.line('"id":7')).toBe(result(7, odd))
    const [posted] = service.of('tools/call')
    expect(posted?.body).toBe(sent)
    expect(posted?.headers).toMatchObject({
      'x-haversack-key': 'hsk_1',
      'mcp-session-id': 's1',
      'mcp-protocol-version': '2025-11-25',
    })
  })

  it('may be requests of the service, on the stream of a call and on their own', async () => {
    let own!: ServerResponse
    const asked = '{"jsonrpc":"2.0","id":"q1","method":"sampling/createMessage","params":{"n":1.0}}'
    let calling!: ServerResponse
    const service = await startService(
      response => {
        calling = response
        stream(response, event(asked) + event(notification('notifications/progress', '{"p":0.50}')))
      },
      response => {
        own = response
        stream(response, ': keepalive\n\n')
      },
    )
    const client = await openLegacyBridge(service.url)
    client.send(call(1))
    expect(await client.line('sampling')).toBe(asked)
    expect(await client.line('progress')).toContain('{"p":0.50}')
    const answer = '{"jsonrpc":"2.0","id":"q1","result":{"model":"m","x":1.0}}'
    client.send(answer)
    await eventually(() => expect(service.arrived.at(-1)?.body).toBe(answer))
    calling.end(event(result(1, '{}')))
    await client.line('"id":1')
    await eventually(() => expect(own).toBeDefined())
    own.write(event('{"jsonrpc":"2.0","id":"q2","method":"roots/list"}'))
    expect(await client.line('q2')).toContain('roots/list')
  })

  it('may cancel a call, which then has no answer', async () => {
    const service = await startService(response => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('id: e1\ndata: \n\n')
    })
    const client = await openLegacyBridge(service.url)
    client.send(call('a'))
    await eventually(() => expect(service.of('tools/call')).toHaveLength(1))
    const cancel = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}'
    client.send(cancel)
    await eventually(() => expect(service.arrived.at(-1)?.body).toBe(cancel))
    client.send('{"jsonrpc":"2.0","id":2,"method":7}')
    await client.line('"id":2')
    expect(client.lines.join()).not.toContain('"id":"a"')
  })

  it('wait for the handshake, and a cancelled handshake is still answered', async () => {
    const service = await startService(echo)
    const client = openBridge(service.url)
    const initialize = '{"jsonrpc":"2.0","id":"i","method":"initialize","params":{}}'
    client.send(
      `${initialize}\n{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"i"}}\n${call(1)}`,
    )
    await client.line('"id":"i"')
    expect(await client.line('"id":1')).toBe(result(1, '{"by":"s1"}'))
  })

  it('end with DELETE when the client has gone', async () => {
    const service = await startService(() => {})
    const client = await openLegacyBridge(service.url)
    client.send(call(1))
    await eventually(() => expect(service.of('tools/call')).toHaveLength(1))
    await client.close()
    expect(service.of('DELETE').map(({ headers }) => headers['mcp-session-id'])).toEqual(['s1'])
    await eventually(() => expect(service.of('tools/call')[0]?.isCut).toBe(true))
  })
})

describe('a service that goes', () => {
  it('ends calls with an error that says so, and gets no call twice', async () => {
    const service = await startService((response, { id }) => {
      if (id === 1) response.destroy()
      else if (id === 2) response.writeHead(404).end()
      else if (id === 4) response.writeHead(502).end()
      else stream(response, event(notification('notifications/progress', '{}')))
      if (id === 3) setImmediate(() => response.destroy())
    })
    const client = await openLegacyBridge(service.url)
    for (const id of [1, 2, 3, 4]) client.send(call(id))
    for (const id of [1, 2, 3, 4]) {
      const answer = JSON.parse(await client.line(`"id":${id}`))
      expect(answer.result).toMatchObject({ isError: true })
      expect(answer.result.content[0].text).toContain('may have happened')
    }
    expect(service.of('tools/call')).toHaveLength(4)
  })

  it('has calls wait for two seconds, and no longer', async () => {
    const service = await startService(echo)
    const clock = createFakeClock()
    const client = await openLegacyBridge(service.url, { clock })
    await service.close()
    client.send('{"jsonrpc":"2.0","id":1,"method":"ping"}')
    await eventually(() => {
      clock.advance(100)
      expect(client.lines.join()).toContain('"id":1')
    })
    expect(clock.now()).toBeGreaterThanOrEqual(2_000)
    expect(await client.line('"id":1')).toContain('"code":-32603,"message":"The Haversack service')
    client.send(call(2))
    expect(await client.line('"id":2')).toContain('was not sent')
    const again = await startHttpUpstream(service.answer, Number(new URL(service.url).port))
    onTestFinished(() => again.close())
    client.send(call(3))
    expect(await client.line('"id":3')).toBe(result(3, '{"by":"s1"}'))
    expect(client.reachable).toEqual([false, true])
  })

  it('comes back without the session: another one is told what the client had told it', async () => {
    let own: ServerResponse | undefined
    const service = await startService(echo, response => {
      own = response
      stream(response, ': keepalive\n\n')
    })
    const client = await openLegacyBridge(service.url)
    for (const [id, method, params] of [
      [1, 'logging/setLevel', '{"level":"debug"}'],
      [2, 'resources/subscribe', '{"uri":"a:1"}'],
      [3, 'resources/subscribe', '{"uri":"a:2"}'],
      [4, 'resources/unsubscribe', '{"uri":"a:1"}'],
    ] as const) {
      client.send(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`)
      await client.line(`"id":${id}`)
    }
    await eventually(() => expect(own).toBeDefined())
    own?.write(event('{"jsonrpc":"2.0","id":"q1","method":"roots/list"}'))
    await client.line('q1')
    service.sessions.clear()
    const before = service.arrived.length
    client.send(call(5))
    client.send(call(6))
    expect(await client.line('"id":5')).toBe(result(5, '{"by":"s2"}'))
    expect(await client.line('"id":6')).toBe(result(6, '{"by":"s2"}'))
    const handshakes = service.of('initialize').map(({ body }) => JSON.parse(body).params)
    expect(handshakes).toHaveLength(2)
    expect(handshakes[1]).toEqual(handshakes[0])
    expect(service.of('initialize')[1]?.body).toContain('"n":1.0')
    const told = service.arrived.slice(before).filter(one => one.headers['mcp-session-id'] === 's2')
    expect(told.map(({ rpcMethod }) => rpcMethod).slice(0, 3)).toEqual([
      'notifications/initialized',
      'logging/setLevel',
      'resources/subscribe',
    ])
    expect(told[2]?.body).toContain('a:2')
    // The client has lists and a question of the earlier session.
    expect(await client.line('list_changed')).toBe(
      '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
    )
    expect(await client.line('notifications/cancelled')).toContain('"requestId":"q1"')
    client.send('{"jsonrpc":"2.0","id":"q1","result":{}}')
    client.send(call(8))
    await client.line('"id":8')
    expect(service.arrived.some(({ body }) => body.includes('"id":"q1"'))).toBe(false)
    expect(client.lines.filter(line => line.includes('list_changed'))).toHaveLength(1)
    expect(client.lines.filter(line => line.includes('haversack-bridge'))).toEqual([])
  })

  it('is noticed by the stream for what belongs to no request', async () => {
    const streams: ServerResponse[] = []
    const service = await startService(echo, response => {
      streams.push(response)
      stream(response, ': keepalive\n\n')
    })
    const client = await openLegacyBridge(service.url)
    await eventually(() => expect(streams).toHaveLength(1))
    service.sessions.clear()
    streams[0]?.destroy()
    await client.line('notifications/tools/list_changed')
    await eventually(() => expect(streams).toHaveLength(2))
    streams[1]?.write(event('{"jsonrpc":"2.0","method":"notifications/message","params":{}}'))
    await client.line('notifications/message')
  })

  it('may go on with the stream of a call', async () => {
    const service = await startService(
      response => {
        stream(response, 'id: e1\ndata: \n\n')
        setImmediate(() => response.destroy())
      },
      (response, { headers }) => {
        if (headers['last-event-id'] !== 'e1') return response.writeHead(405).end()
        return stream(response, event(result(1, '{"late":1.0}'), 'e2'))
      },
    )
    const client = await openLegacyBridge(service.url)
    client.send(call(1))
    expect(await client.line('"id":1')).toBe(result(1, '{"late":1.0}'))
  })

  it('refuses: the client reads why', async () => {
    const problem = '{"status":401,"code":"unauthorized","detail":"no such key"}'
    const service = await startHttpUpstream(response => {
      response.writeHead(401, { 'content-type': 'application/problem+json' }).end(problem)
    })
    onTestFinished(() => service.close())
    const client = openBridge(service.url)
    client.send('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}')
    expect(await client.line('"id":1')).toContain('answered 401: no such key')
  })
})

describe('messages of a client of 2026-07-28', () => {
  const modern = (id: string, method: string, params: string) =>
    `{"jsonrpc":"2.0","id":"${id}","method":"${method}","params":{${params}${params === '' ? '' : ','}${MODERN_META}}}`

  it('have the headers that repeat them', async () => {
    const service = await startService((response, { id }) =>
      json(response, result(id, '{"x":1.0}')),
    )
    const client = openBridge(service.url)
    const sent = modern('a', 'resources/read', '"uri":"file:///ä b"')
    client.send(sent)
    expect(await client.line('"id":"a"')).toBe(result('a', '{"x":1.0}'))
    const [posted] = service.arrived
    expect(posted?.body).toBe(sent)
    expect(posted?.headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'resources/read',
      'mcp-name': `=?base64?${Buffer.from('file:///ä b').toString('base64')}?=`,
    })
    expect(posted?.headers['mcp-session-id']).toBeUndefined()
  })

  it('have those of a tool that wants more once the tool is known', async () => {
    const schema = '{"properties":{"city":{"type":"string","x-mcp-header":"City"}}}'
    const service = await startService((response, { id, rpcMethod, headers }) => {
      if (rpcMethod === 'tools/list') {
        return json(response, result(id, `{"tools":[{"name":"x","inputSchema":${schema}}]}`))
      }
      const isComplete = headers['mcp-param-city'] === 'Ulm'
      return isComplete
        ? echo(response, { id, headers } as Arrived)
        : json(response, rpcError(id, -32020), 400)
    })
    const client = openBridge(service.url)
    for (const id of ['a', 'b']) {
      client.send(modern(id, 'tools/call', '"name":"x","arguments":{"city":"Ulm"}'))
      expect(await client.line(`"id":"${id}"`)).toContain('"result"')
    }
    client.send(modern('c', 'tools/call', '"name":"x","arguments":{}'))
    expect(await client.line('"id":"c"')).toContain('-32020')
    expect(client.lines).toHaveLength(3)
    expect(service.of('tools/list')).toHaveLength(2)
  })

  it('are cancelled by closing their stream', async () => {
    const service = await startService(response => stream(response, ': x\n\n'))
    const client = openBridge(service.url)
    client.send(modern('a', 'tools/call', '"name":"x"'))
    await eventually(() => expect(service.arrived).toHaveLength(1))
    client.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}')
    await eventually(() => expect(service.arrived[0]?.isCut).toBe(true))
    expect(service.arrived).toHaveLength(1)
    expect(client.lines).toEqual([])
  })

  it('listen again after the service was gone, and then lists may have changed', async () => {
    const streams: ServerResponse[] = []
    const id = '"io.modelcontextprotocol/subscriptionId":"l"'
    const acknowledged = notification(
      'notifications/subscriptions/acknowledged',
      `{"notifications":{"toolsListChanged":true},"_meta":{${id}}}`,
    )
    const service = await startService(response => {
      streams.push(response)
      stream(response, event(acknowledged))
    })
    const client = openBridge(service.url)
    client.send(modern('l', 'subscriptions/listen', '"notifications":{"toolsListChanged":true}'))
    await client.line('acknowledged')
    streams[0]?.destroy()
    const changed = await client.line('tools/list_changed')
    expect(changed).toBe(notification('notifications/tools/list_changed', `{"_meta":{${id}}}`))
    streams[1]?.end(event(result('l', '{"resultType":"complete"}')))
    await client.line('"id":"l"')
    expect(client.lines.filter(line => line.includes('acknowledged'))).toHaveLength(1)
  })

  it('end with an error if their stream is cut', async () => {
    const service = await startService(response => response.destroy())
    const client = openBridge(service.url)
    client.send(modern('a', 'tools/call', '"name":"x"'))
    const { result: failed } = JSON.parse(await client.line('"id":"a"'))
    expect(failed).toMatchObject({ isError: true, resultType: 'complete' })
    expect(service.arrived).toHaveLength(1)
  })
})
