import { afterEach, describe, expect, it } from 'vitest'
import type { UpstreamConnection } from '../../../src/mcp/upstream/connection.ts'
import { eventually } from '../../support/eventually.ts'
import {
  callOf,
  connectTo,
  httpTarget,
  knownEra,
  resultOf,
  textOfEnd,
  toolCall,
} from '../../support/mcp/connect.ts'
import { fastClock } from '../../support/mcp/fast-clock.ts'
import {
  type Answer,
  event,
  type HttpUpstream,
  json,
  legacyServer,
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

async function connect(answer: Answer): Promise<void> {
  upstream = await startHttpUpstream(answer)
  const target = httpTarget(upstream.url, { Authorization: 'Bearer x', Accept: 'text/plain' })
  const connected = connectTo(target, { verdicts: knownEra('legacy'), clock: fastClock() })
  connection = connected.connection
  events = connected.events
  await connection.facts()
}

describe('a legacy server over HTTP', () => {
  it('is probed, initialized, called with its session, and left with a DELETE', async () => {
    upstream = await startHttpUpstream(
      legacyServer((response, { id }) =>
        json(response, result(id, '{"big":12345678901234567890}')),
      ),
    )
    const connected = connectTo(httpTarget(upstream.url, { Authorization: 'Bearer x' }))
    connection = connected.connection
    expect((await connection.facts())?.era).toBe('legacy')
    const end = await connection.call(callOf('tools/call', '{"x":1.0,"_meta":{"a":1.0}}'))
    expect(textOfEnd(end)).toBe('{"big":12345678901234567890}')
    await connection.close()
    const [discovered, initialized, notified] = upstream.of('POST')
    expect(discovered?.headers).toMatchObject({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'server/discover',
    })
    expect(JSON.parse(initialized?.body as string).params).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: { sampling: {}, x: 1 },
      clientInfo: { name: 'client', version: '1.0' },
    })
    expect(initialized?.headers['mcp-protocol-version']).toBeUndefined()
    expect(notified?.rpcMethod).toBe('notifications/initialized')
    const [called] = upstream.of('tools/call')
    expect(called?.body).toContain('"params":{"x":1.0,"_meta":{"a":1.0}}')
    for (const later of [notified, called, upstream.of('GET')[0], upstream.of('DELETE')[0]]) {
      expect(later?.headers).toMatchObject({
        authorization: 'Bearer x',
        'mcp-session-id': 'session-1',
        'mcp-protocol-version': '2025-11-25',
      })
    }
  })

  it('answers with a stream, whose messages belong to the call', async () => {
    const answers: string[] = []
    let finish = () => {}
    await connect(
      legacyServer((response, { id, body, rpcMethod }) => {
        if (rpcMethod === undefined) {
          answers.push(body)
          response.writeHead(202).end()
          finish()
          return
        }
        const { progressToken } = JSON.parse(body).params._meta
        const progress = `{"progressToken":${progressToken},"progress":1.0}`
        stream(
          response,
          `: a comment\n\n${event(notification('notifications/progress', progress))}`,
        )
        response.write('data: no message\n\n')
        response.write(event(notification('notifications/message', '{"data":1.0}')))
        response.write(event(notification('notifications/tools/list_changed', '{}')))
        response.write(event('{"jsonrpc":"2.0","id":7,"method":"roots/list","params":{"a":1.0}}'))
        finish = () => {
          response.write(event(result(999, '{}')))
          response.end(
            event(result(id, '{"x":1.0}')) + event(notification('notifications/x', '{}')),
          )
        }
      }),
    )
    const call = callOf('tools/call', '{"_meta":{"progressToken":"é"}}', {
      ask: (method, params) => Promise.resolve(resultOf(`{"${method}":${params}}`)),
    })
    expect(textOfEnd(await connection.call(call))).toBe('{"x":1.0}')
    expect(call.notified).toEqual([
      'notifications/progress {"progressToken":"é","progress":1.0}',
      'notifications/message {"data":1.0}',
    ])
    expect(answers).toEqual(['{"jsonrpc":"2.0","id":7,"result":{"roots/list":{"a":1.0}}}'])
    expect(events).toContain('notifications/tools/list_changed {}')
    expect(connection.counts()).toEqual({ torn: 1, foreign: 1, reconnects: 0 })
  })

  it('goes on with a stream that was cut, from its last event', async () => {
    await connect(
      legacyServer((response, { method, headers }) => {
        if (method === 'POST') {
          stream(response, 'id: 1\nretry: 700\ndata:\n\nid: 2\ndata: {"torn"')
          response.end()
        } else if (headers['last-event-id'] === '1') {
          stream(response, event(notification('notifications/message', '{"n":2}'), '2'))
          response.write(': cut', () => response.destroy())
        } else {
          stream(response, event(result(upstream.of('tools/call')[0]?.id, '{"n":3}'), '3'))
        }
      }),
    )
    const call = toolCall('x')
    expect(textOfEnd(await connection.call(call))).toBe('{"n":3}')
    expect(call.notified).toEqual(['notifications/message {"n":2}'])
    expect(upstream.of('GET').map(({ headers }) => headers['last-event-id'])).toEqual([
      undefined,
      '1',
      '2',
    ])
  })

  it('loses a call whose stream cannot be gone on with', async () => {
    await connect(legacyServer(response => stream(response, 'data: {}\n\n') ?? response.end()))
    expect(await connection.call(toolCall('x'))).toEqual({ kind: 'lost', hasRun: 'maybe' })
  })

  it('gets a new session if it forgot the one before, and then the call', async () => {
    await connect(
      legacyServer((response, { id, headers }) => {
        if (headers['mcp-session-id'] === 'session-1') response.writeHead(404).end()
        else json(response, result(id, '{}'))
      }),
    )
    expect(textOfEnd(await connection.call(toolCall('x')))).toBe('{}')
    expect(upstream.of('tools/call').map(({ headers }) => headers['mcp-session-id'])).toEqual([
      'session-1',
      'session-2',
    ])
    expect(events).toEqual(['connected legacy', 'lost', 'connected legacy'])
  })

  it.each<[string, number, string, boolean]>([
    ['404', 404, '', true],
    ['400 as the examples do', 400, forgotten('Bad Request: No valid session ID provided'), true],
    ['400 before a handshake', 400, forgotten('Bad Request: Server not initialized'), true],
    ['400 in words of its own', 400, '{"error":"unknown session"}', false],
    ['403', 403, '{"error":"session unknown"}', true],
    ['409', 409, '{"error":"session unknown"}', false],
    ['410', 410, '', false],
    ['500', 500, '{"error":"session unknown"}', false],
    ['502', 502, 'bad gateway', false],
    ['503', 503, '{"error":"session unknown"}', false],
    ['200 and an error', 200, forgotten('Session expired'), false],
    ['a page', 200, '<html>log in</html>', false],
  ])(
    'gets a new session after %s, and the next call works',
    async (_, status, body, isSentAgain) => {
      let lost = false
      const server = legacyServer((response, { id, headers }) => {
        if (lost && headers['mcp-session-id'] === 'session-1') json(response, body, status)
        else json(response, result(id, '{}'))
      })
      await connect(server)
      expect(textOfEnd(await connection.call(toolCall('x')))).toBe('{}')
      lost = true
      const during = textOfEnd(await connection.call(toolCall('x')))
      if (isSentAgain) expect(during).toBe('{}')
      expect(textOfEnd(await connection.call(toolCall('x')))).toBe('{}')
      expect(upstream.of('initialize')).toHaveLength(2)
    },
  )

  it.each([500, 503, 403, 409])('keeps a session that answers a ping after %i', async status => {
    await connect(
      legacyServer((response, { id, rpcMethod, body }) => {
        if (rpcMethod === 'ping') json(response, rpcError(id, -32_601))
        else if (body.includes('bad')) json(response, 'oops', status)
        else json(response, result(id, '{}'))
      }),
    )
    await connection.call(toolCall('x'))
    await connection.call(toolCall('bad'))
    expect(textOfEnd(await connection.call(toolCall('x')))).toBe('{}')
    expect(upstream.of('ping')).toHaveLength(1)
    expect(upstream.of('initialize')).toHaveLength(1)
  })

  it('is not sent a call again that was under way when a service ended its session', async () => {
    await connect(legacyServer(response => response.writeHead(502).end()))
    expect(await connection.call(toolCall('x'))).toEqual({ kind: 'lost', hasRun: 'maybe' })
    expect(upstream.of('tools/call')).toHaveLength(1)
  })

  it('may say in another way that it forgot its session', async () => {
    await connect(
      legacyServer((response, { id, headers }) => {
        const isKnown = headers['mcp-session-id'] !== 'session-1'
        const error = '{"code":-32000,"message":"Bad Request: No valid session ID provided"}'
        const refusal = `{"jsonrpc":"2.0","id":null,"error":${error}}`
        json(response, isKnown ? result(id, '{}') : refusal, isKnown ? 200 : 400)
      }),
    )
    expect(textOfEnd(await connection.call(toolCall('x')))).toBe('{}')
  })

  it('is asked only a few times if it forgets every session', async () => {
    await connect(legacyServer(response => response.writeHead(404).end()))
    expect(await connection.call(toolCall('x'))).toEqual({ kind: 'lost', hasRun: 'no' })
    expect(upstream.of('tools/call')).toHaveLength(3)
  })

  it('is notified of a cancelled call, whose stream is closed', async () => {
    const controller = new AbortController()
    await connect(
      legacyServer(response => {
        stream(response, ': begun\n\n')
        controller.abort()
      }),
    )
    const end = await connection.call(toolCall('x', { signal: controller.signal }))
    expect(end).toEqual({ kind: 'aborted' })
    await eventually(() => expect(upstream.of('notifications/cancelled')).toHaveLength(1))
    const { params } = JSON.parse(upstream.of('notifications/cancelled')[0]?.body as string)
    expect(params).toEqual({ requestId: upstream.of('tools/call')[0]?.id })
    await eventually(() => expect(upstream.of('tools/call')[0]?.isCut).toBe(true))
  })

  it('sends what belongs to no call by the stream of a GET', async () => {
    const ask = '{"jsonrpc":"2.0","id":"r","method":"roots/list"}'
    const usual = legacyServer(() => {})
    await connect((response, arrived) => {
      if (arrived.method !== 'GET') usual(response, arrived)
      else if (upstream.of('GET').length > 1) response.writeHead(405).end()
      else {
        stream(response, event(notification('notifications/resources/updated', '{"uri":"a"}'), 'x'))
        response.end(event(ask))
      }
    })
    await eventually(() => expect(upstream.of('GET')).toHaveLength(2))
    expect(upstream.of('GET')[1]?.headers['last-event-id']).toBe('x')
    expect(events.slice(1)).toEqual([
      'notifications/resources/updated {"uri":"a"}',
      'request roots/list null',
    ])
    const answered = () => upstream.arrived.find(({ body }) => body.includes('"id":"r"'))
    await eventually(() => expect(answered()?.body).toMatch(/"result":\{"roots":\[\]\}/))
  })
})

describe('an answer over HTTP', () => {
  it.each<[string, number, Record<string, string>, string, object | string]>([
    ['401', 401, { 'www-authenticate': 'Bearer a="b"' }, '', unauthorized('Bearer a="b"')],
    ['403', 403, {}, '', unauthorized(null)],
    ['302 to another origin', 302, { location: 'http://169.254.169.254/' }, '', refused('another')],
    ['302 to nowhere', 302, {}, '', refused('nowhere')],
    ['307 to itself', 307, { location: '/mcp' }, '', refused('too many')],
    ['500 without a message', 500, {}, 'oops', { kind: 'malformed' }],
    ['200 without a message', 200, {}, '{"result":', { kind: 'malformed' }],
    ['200 with an answer to another', 200, {}, result(999, '{}'), { kind: 'malformed' }],
    ['202', 202, {}, '', { kind: 'malformed', status: 202 }],
    ['503 of a gateway', 503, {}, 'down', { kind: 'lost', hasRun: 'maybe' }],
    [
      '500 with an error of MCP',
      500,
      {},
      'ERROR',
      '{"code":-32603,"message":"refused","data":1.0}',
    ],
    [
      '400 with an error about no id',
      400,
      {},
      'NULL',
      '{"code":-1,"message":"refused","data":1.0}',
    ],
  ])('of %s', async (_, status, headers, body, expected) => {
    const bodies: Record<string, (id: unknown) => string> = {
      ERROR: id => rpcError(id, -32_603, '1.0'),
      NULL: () => rpcError(null, -1, '1.0'),
    }
    await connect(
      legacyServer((response, { id }) =>
        json(response, bodies[body]?.(id) ?? body, status, headers),
      ),
    )
    const end = textOfEnd(await connection.call(toolCall('x')))
    if (typeof expected === 'string') expect(end).toBe(expected)
    else expect(end).toMatchObject(expected)
  })

  it('may be found after a redirect within the origin', async () => {
    await connect(
      legacyServer((response, { id, path }) => {
        if (path === '/mcp') response.writeHead(307, { location: '/mcp/' }).end()
        else json(response, result(id, '{}'))
      }),
    )
    expect(textOfEnd(await connection.call(toolCall('x')))).toBe('{}')
    expect(upstream.of('tools/call')[1]?.headers['authorization']).toBe('Bearer x')
  })
})

function forgotten(message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null })
}

function unauthorized(authenticate: string | null): object {
  return { kind: 'unauthorized', authenticate }
}

function refused(detail: string): object {
  return { kind: 'malformed', detail: expect.stringContaining(detail) }
}
