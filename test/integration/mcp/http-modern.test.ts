import type { Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { UpstreamConnection } from '../../../src/mcp/upstream/connection.ts'
import type { UpstreamOptions } from '../../../src/mcp/upstream/options.ts'
import { eventually } from '../../support/eventually.ts'
import {
  callOf,
  connectTo,
  httpTarget,
  knownEra,
  textOfEnd,
  toolCall,
} from '../../support/mcp/connect.ts'
import { fastClock } from '../../support/mcp/fast-clock.ts'
import {
  type Answer,
  event,
  type HttpUpstream,
  json,
  modernServer,
  notification,
  result,
  rpcError,
  startHttpUpstream,
  stream,
} from '../../support/mcp/http-upstream.ts'

let upstream: HttpUpstream
let connection: UpstreamConnection
let events: string[]

afterEach(async () => {
  await connection.close()
  await upstream.close()
})

async function connect(answer: Answer, options: Partial<UpstreamOptions> = {}): Promise<void> {
  upstream = await startHttpUpstream(answer)
  const connected = connectTo(httpTarget(upstream.url), { clock: fastClock(), ...options })
  connection = connected.connection
  events = connected.events
  await connection.facts()
}

describe('a modern server over HTTP', () => {
  it('gets the envelope and the headers that repeat it', async () => {
    await connect(modernServer((response, { id }) => json(response, result(id, '{"x":1.0}'))))
    expect(String((await connection.facts())?.serverInfo)).toBe('{"name":"http"}')
    const params = '{"name":"päck","arguments":{"n":12345678901234567890},"_meta":{"a":1.0}}'
    const end = await connection.call(
      callOf('tools/call', params, { mirrored: { 'Mcp-Param-A': ' b', 'mcp-param-c': 'd e' } }),
    )
    expect(textOfEnd(end)).toBe('{"x":1.0}')
    const [called] = upstream.of('tools/call')
    expect(called?.headers).toMatchObject({
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': `=?base64?${Buffer.from('päck').toString('base64')}?=`,
      'mcp-param-a': '=?base64?IGI=?=',
      'mcp-param-c': 'd e',
    })
    expect(called?.headers['mcp-session-id']).toBeUndefined()
    const meta =
      '{"a":1.0,"io.modelcontextprotocol/protocolVersion":"2026-07-28",' +
      '"io.modelcontextprotocol/clientCapabilities":{"sampling":{},"x":1.0},' +
      '"io.modelcontextprotocol/clientInfo":{"name":"client","version":"1.0"}}'
    expect(called?.body).toContain(`"params":${params.replace('{"a":1.0}', meta)}`)
    expect(upstream.of('initialize')).toEqual([])
    await connection.close()
    expect(upstream.of('GET')).toEqual([])
    expect(upstream.of('DELETE')).toEqual([])
  })

  it('is called by the same connection, which keeps nothing of each call', async () => {
    const sockets = new Set<Socket>()
    await connect(
      modernServer((response, { id }) => {
        sockets.add(response.socket as Socket)
        json(response, result(id, '{}'))
      }),
    )
    const warnings: string[] = []
    const keep = (warning: Error) => void warnings.push(warning.name)
    process.on('warning', keep)
    for (let n = 0; n < 15; n++) await connection.call(toolCall('x'))
    process.off('warning', keep)
    expect(sockets.size).toBe(1)
    expect(warnings).toEqual([])
  })

  it('learns of a cancelled call by its closed stream', async () => {
    const controller = new AbortController()
    await connect(
      modernServer(response => {
        stream(response, ': begun\n\n')
        controller.abort()
      }),
    )
    const end = await connection.call(toolCall('x', { signal: controller.signal }))
    expect(end).toEqual({ kind: 'aborted' })
    await eventually(() => expect(upstream.of('tools/call')[0]?.isCut).toBe(true))
    expect(upstream.of('notifications/cancelled')).toEqual([])
  })

  it('cannot send an event without an end', async () => {
    await connect(
      modernServer(response => {
        stream(response, 'data: ')
        const flood = () => {
          while (!response.destroyed) if (!response.write('x'.repeat(65_536))) break
        }
        response.on('drain', flood)
        flood()
      }),
      { limits: { messageBytes: 1_000_000 } },
    )
    const end = await connection.call(toolCall('x'))
    expect(end).toEqual({ kind: 'malformed', detail: 'the answer is too large' })
    await eventually(() => expect(upstream.of('tools/call')[0]?.isCut).toBe(true))
  })

  it('reports changes of its lists, and is listened to again', async () => {
    const listening = '{"tools":{"listChanged":true},"prompts":{"listChanged":false}}'
    let listens = 0
    await connect((response, { id, rpcMethod }) => {
      if (rpcMethod === 'server/discover') {
        const facts = `{"supportedVersions":["2026-07-28"],"capabilities":${listening}}`
        return json(response, result(id, facts))
      }
      const meta = `"_meta":{"io.modelcontextprotocol/subscriptionId":${id}}`
      const honoured = `{"notifications":{"toolsListChanged":true},${meta}}`
      stream(response, event(notification('notifications/subscriptions/acknowledged', honoured)))
      if (++listens > 1) {
        response.write(event(notification('notifications/tools/list_changed', `{${meta}}`)))
      } else response.end(event(result(id, '{"resultType":"complete"}')))
      return null
    })
    await eventually(() => expect(events).toHaveLength(3))
    const [first] = upstream.of('subscriptions/listen')
    const { notifications } = JSON.parse(first?.body as string).params
    expect(notifications).toEqual({ toolsListChanged: true })
    expect(events.join()).not.toContain('acknowledged')
    expect(events.slice(1)).toEqual([
      'notifications/tools/list_changed null',
      expect.stringContaining('notifications/tools/list_changed {"_meta"'),
    ])
  })

  it('is found out again if it refuses the revision in a call', async () => {
    let isNew = true
    await connect(
      modernServer((response, { id }) => {
        if (!isNew) return json(response, result(id, '{}'))
        isNew = false
        return json(response, rpcError(id, -32_022, '{"supported":["2026-07-28"]}'), 400)
      }),
    )
    expect(textOfEnd(await connection.call(toolCall('x')))).toBe('{}')
    expect(upstream.of('server/discover')).toHaveLength(2)
  })

  it('may offer another revision when it is probed', async () => {
    let probes = 0
    const usual = modernServer((response, { id }) => json(response, result(id, '{}')))
    await connect((response, arrived) => {
      if (arrived.rpcMethod !== 'server/discover' || ++probes > 1) return usual(response, arrived)
      const data = '{"supported":["2030-01-01","2026-07-28"],"requested":"x"}'
      return json(response, rpcError(arrived.id, -32_022, data), 400)
    })
    expect((await connection.facts())?.protocolVersion).toBe('2026-07-28')
    expect(upstream.of('initialize')).toEqual([])
  })
})

describe('a connection that is cut', () => {
  it('loses its call, which is not repeated once its answer has begun', async () => {
    await connect(
      modernServer(response => {
        stream(response, ': begun\n\n')
        response.write(': more', () => response.destroy())
      }),
    )
    const end = await connection.call(toolCall('x', { canRepeat: true }))
    expect(end).toEqual({ kind: 'lost', hasRun: 'maybe' })
    expect(upstream.of('tools/call')).toHaveLength(1)
  })

  it.each([
    [true, 2],
    [false, 1],
  ])('before the answer: a call that may be repeated (%s) is sent %i times', async (may, times) => {
    await connect(modernServer(response => response.destroy()))
    const end = await connection.call(toolCall('x', { canRepeat: may }))
    expect(end).toEqual({ kind: 'lost', hasRun: 'maybe' })
    expect(upstream.of('tools/call')).toHaveLength(times)
    expect(connection.lastErrors()).toMatch(/socket hang up|ECONNRESET/)
  })

  it('leaves other calls alone', async () => {
    let finish = () => {}
    await connect(
      modernServer((response, { id, headers }) => {
        if (headers['mcp-name'] === 'cut') response.destroy()
        else finish = () => json(response, result(id, '{}'))
      }),
    )
    const other = connection.call(toolCall('other'))
    expect(await connection.call(toolCall('cut'))).toMatchObject({ kind: 'lost' })
    await eventually(() => expect(upstream.of('tools/call')).toHaveLength(2))
    finish()
    expect(textOfEnd(await other)).toBe('{}')
  })

  it('cannot be changed to another protocol', async () => {
    await connect(
      modernServer(response => {
        response.socket?.end('HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
      }),
    )
    expect(await connection.call(toolCall('x'))).toEqual({ kind: 'lost', hasRun: 'maybe' })
  })
})

describe('a server that cannot be connected to', () => {
  it('is not taken for a legacy one because it wants credentials', async () => {
    let hasToken = false
    const usual = modernServer((response, { id }) => json(response, result(id, '{}')))
    await connect((response, arrived) => {
      if (hasToken) return usual(response, arrived)
      return response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
    })
    expect(await connection.facts()).toBeNull()
    const call = () => connection.call(toolCall('x'))
    expect(await call()).toEqual({ kind: 'unauthorized', authenticate: 'Bearer' })
    expect(upstream.of('initialize')).toEqual([])
    hasToken = true
    expect(textOfEnd(await call())).toBe('{}')
  })

  it('is not taken for a legacy one because it fails', async () => {
    await connect(response => response.writeHead(500).end(), {
      limits: { firstWaitMs: 0, downWaitMs: 0 },
    })
    expect(await connection.facts()).toBeNull()
    expect(await connection.call(toolCall('x'))).toEqual({
      kind: 'down',
      detail: 'it answers with no MCP: HTTP 500 without an answer',
    })
    expect(upstream.of('initialize')).toEqual([])
  })

  it('is called again when it has come back', async () => {
    const answer = modernServer((response, { id }) => json(response, result(id, '{}')))
    await connect(answer, { verdicts: knownEra('modern'), limits: { downWaitMs: 0 } })
    const port = Number(new URL(upstream.url).port)
    await upstream.close()
    const call = () => connection.call(toolCall('x', { canRepeat: true }))
    expect(await call()).toEqual({ kind: 'down' })
    expect(await connection.facts()).toBeNull()
    upstream = await startHttpUpstream(answer, port)
    await eventually(async () => expect(textOfEnd(await call())).toBe('{}'))
    expect(connection.counts().reconnects).toBe(1)
    expect(events).toEqual(['connected modern', 'lost', 'connected modern'])
  })

  it.each([
    ['an error of JSON-RPC', 400],
    ['one with status 200', 200],
  ])('is found where a legacy one was, if it refuses with %s', async (_, status) => {
    const call = modernServer((response, { id, rpcMethod }) =>
      rpcMethod === 'initialize'
        ? json(response, rpcError(id, -32_601), status)
        : json(response, result(id, '{}')),
    )
    const verdicts = knownEra('legacy')
    await connect(call, { verdicts })
    expect((await connection.facts())?.era).toBe('modern')
    expect(verdicts.get('test')?.era).toBe('modern')
    expect(upstream.of('initialize')).toHaveLength(1)
    expect(textOfEnd(await connection.call(toolCall('x')))).toBe('{}')
  })
})
