import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { ModernSession } from '../../../../src/mcp/fronts/modern/stdio-session.ts'
import type { Gateway } from '../../../../src/mcp/gateway.ts'
import type { ClientCall, GatewayClient } from '../../../../src/mcp/gateway-options.ts'
import { type Outcome, readMessage } from '../../../../src/mcp/json-rpc.ts'
import { eventually } from '../../../support/eventually.ts'

const M = 'io.modelcontextprotocol/'
const META = `"_meta":{"${M}protocolVersion":"2026-07-28","${M}clientCapabilities":{}}`
const RESULT: Outcome = { kind: 'result', result: Buffer.from('{"content":[]}') }

/** A session before a gateway that answers when the test says so. */
function setUp() {
  const lines: { id?: unknown; method?: string; params?: object; result?: object }[] = []
  const calls: { call: ClientCall; end(outcome: Outcome): void }[] = []
  const clients: GatewayClient[] = []
  const gateway: Gateway = {
    ready: async () => {},
    capabilities: () => Buffer.from('{"tools":{"listChanged":true}}'),
    instructions: () => null,
    handle(call) {
      const ended = Promise.withResolvers<Outcome>()
      calls.push({ call, end: ended.resolve })
      return ended.promise
    },
    forward: async () => RESULT,
    definitionOf: async () => null,
    hintOf: () => ({ ttlMs: 0, cacheScope: 'private' }),
    notified: () => {},
    close: async () => {},
  }
  const send = (bytes: Uint8Array | null) => {
    if (bytes !== null) lines.push(JSON.parse(Buffer.from(bytes).toString()))
  }
  const session = new ModernSession(
    {
      ...{ version: '0', sealingKey: randomBytes(32) },
      createGateway(client) {
        clients.push(client)
        return gateway
      },
      onBug(error) {
        throw error
      },
    },
    send,
  )
  const receive = (json: string) => session.receive(readMessage(Buffer.from(json))!).then(send)
  const request = (id: string, method: string, params = '') =>
    receive(
      `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${params}${params && ','}${META}}}`,
    )
  const cancel = (id: string) =>
    receive(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`)
  return { lines, calls, clients, session, receive, request, cancel }
}

describe('a client of 2026-07-28 on a pipe', () => {
  it('has many requests at once, and cancels one', async () => {
    const { lines, calls, request, cancel } = setUp()
    const [first, second] = [request('1', 'tools/call'), request('"1"', 'tools/call')]
    await eventually(() => expect(calls).toHaveLength(2))
    await cancel('1')
    expect(calls.map(({ call }) => call.signal.aborted)).toEqual([true, false])
    for (const { end } of calls) end(RESULT)
    await Promise.all([first, second])
    expect(lines.map(({ id }) => id)).toEqual(['1'])
  })

  it('is not answered twice for one id', async () => {
    const { lines, calls, request } = setUp()
    const first = request('1', 'tools/call')
    await request('1', 'tools/call')
    expect(lines).toMatchObject([{ id: 1, error: { code: -32600 } }])
    await eventually(() => expect(calls).toHaveLength(1))
    calls[0]!.end(RESULT)
    await first
  })

  it('listens several times on one pipe, told apart by their ids', async () => {
    const { lines, clients, session, request, cancel } = setUp()
    const asked = '"notifications":{"toolsListChanged":true}'
    const open = ['1', '"b"'].map(id => request(id, 'subscriptions/listen', asked))
    await eventually(() => expect(lines).toHaveLength(2))
    clients[0]!.notify('notifications/tools/list_changed', null)
    clients[0]!.notify('notifications/prompts/list_changed', null)
    const ids = lines.map(({ params }) => (params as { _meta: object })._meta)
    const key = `${M}subscriptionId`
    expect(ids).toEqual([{ [key]: 1 }, { [key]: 'b' }, { [key]: 1 }, { [key]: 'b' }])
    await cancel('1')
    clients[0]!.notify('notifications/tools/list_changed', null)
    expect(lines).toHaveLength(5)
    await session.close()
    await Promise.all(open)
    expect(lines).toHaveLength(6)
    expect(lines[5]).toMatchObject({ id: 'b', result: { resultType: 'complete' } })
  })

  it('is refused a handshake', async () => {
    const { lines, receive } = setUp()
    await receive(
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}',
    )
    const data = { supported: ['2026-07-28'], requested: '2025-11-25' }
    expect(lines).toMatchObject([{ id: 1, error: { code: -32022, data } }])
  })
})
