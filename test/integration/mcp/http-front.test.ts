import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Service } from '../../../src/service/service.ts'
import { eventually } from '../../support/eventually.ts'
import { eventsOf, RawHttpClient, type ServerEvent } from '../../support/mcp/http-client.ts'
import type { Exchange } from '../../support/mcp/recording/exchange.ts'
import { RecordingUpstream } from '../../support/mcp/recording-upstream.ts'
import { startSmallService } from '../service/harness.ts'

const TEXT = '{"content":[{"type":"text","text":"done"}]}'

let upstream: RecordingUpstream
let service: Service
beforeAll(async () => {
  upstream = await RecordingUpstream.start({ era: 'legacy' })
  service = await startSmallService({ mcp: { servers: { one: { url: upstream.url } } } })
})
afterAll(async () => {
  await service.close()
  await upstream.close()
})
beforeEach(() => upstream.on('tools/call', exchange => exchange.result(TEXT)))

async function connect(capabilities: object = {}, version = '2025-11-25') {
  const client = new RawHttpClient(`${service.url}/mcp`)
  await client.initialize(capabilities, version)
  onTestFinished(() => void client.delete())
  return client
}

/** Lets a test answer the next call of a tool itself. */
function nextCall(): Promise<Exchange> {
  return new Promise(resolve => upstream.on('tools/call', resolve))
}

const CALL = { name: 'echo', arguments: {} }

describe('a session over HTTP', () => {
  it('answers JSON if nothing comes before the answer', async () => {
    const client = await connect()
    const response = await client.post(client.request('tools/call', CALL))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toMatchObject({ id: 2, result: { content: [{ text: 'done' }] } })
  })

  it('streams progress before the result, and nothing after it', async () => {
    const client = await connect()
    const called = nextCall()
    const params = { ...CALL, _meta: { progressToken: 'mine' } }
    const response = client.post(client.request('tools/call', params))
    const exchange = await called
    const token = /"progressToken":("[^"]*"|\d+)/.exec(exchange.call.bytes.toString())?.[1]
    exchange.notify('notifications/progress', `{"progressToken":${token},"progress":1.0}`)
    const answered = await response
    expect(answered.headers.get('content-type')).toBe('text/event-stream')
    const events = eventsOf(answered)
    expect((await events.next()).value.data).toContain('"progressToken":"mine","progress":1.0')
    exchange.result(TEXT)
    expect((await events.next()).value.data).toContain('"result":')
    expect((await events.next()).done).toBe(true)
  })

  it('asks the client on the stream of the call', async () => {
    const client = await connect({ elicitation: {} })
    const called = nextCall()
    const response = client.post(client.request('tools/call', CALL))
    const exchange = await called
    exchange.send(
      '{"jsonrpc":"2.0","id":77,"method":"elicitation/create","params":{"message":"Who?"}}',
    )
    const events = eventsOf(await response)
    const question = JSON.parse((await events.next()).value.data)
    expect(question).toMatchObject({ method: 'elicitation/create', params: { message: 'Who?' } })
    const answer = { jsonrpc: '2.0', id: question.id, result: { action: 'decline' } }
    expect((await client.post(JSON.stringify(answer))).status).toBe(202)
    await eventually(() => expect(String(upstream.calls.at(-1)?.bytes)).toContain('"id":77'))
    expect(String(upstream.calls.at(-1)?.bytes)).toContain('"action":"decline"')
    exchange.result(TEXT)
    expect((await events.next()).value.data).toContain('"id":2,"result"')
  })

  it('passes on a cancellation, and ends the response without an answer', async () => {
    const client = await connect()
    const called = nextCall()
    const response = client.post(client.request('tools/call', CALL))
    await called
    const params = { requestId: 2 }
    const before = upstream.callsOf('notifications/cancelled').length
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params }
    expect((await client.post(JSON.stringify(cancelled))).status).toBe(202)
    expect((await response).status).toBe(202)
    const cancellations = () => upstream.callsOf('notifications/cancelled').length
    await eventually(() => expect(cancellations()).toBe(before + 1))
  })

  it('goes on with a call whose client has gone, and sends its answer to who comes back', async () => {
    const client = await connect()
    const called = nextCall()
    const gone = new AbortController()
    const before = upstream.callsOf('notifications/cancelled').length
    const params = { ...CALL, _meta: { progressToken: 1 } }
    const response = client.post(client.request('tools/call', params), { signal: gone.signal })
    const exchange = await called
    const token = /"progressToken":("[^"]*"|\d+)/.exec(exchange.call.bytes.toString())?.[1]
    exchange.notify('notifications/progress', `{"progressToken":${token},"progress":1}`)
    const first = (await eventsOf(await response).next()).value as ServerEvent
    gone.abort()
    exchange.result(TEXT)
    const events = eventsOf(await client.get({ 'last-event-id': String(first.id) }))
    expect((await events.next()).value.data).toContain('"result":')
    expect((await events.next()).done).toBe(true)
    expect(upstream.callsOf('notifications/cancelled')).toHaveLength(before)
  })

  it('answers a batch of 2025-03-26 with an array, and refuses one of later revisions', async () => {
    const earlier = await connect({}, '2025-03-26')
    const batch = `[${earlier.request('ping')},${earlier.request('tools/call', CALL)}]`
    const answers = (await (await earlier.post(batch)).json()) as { id: number }[]
    expect(answers.map(({ id }) => id).sort()).toEqual([2, 3])
    const later = await connect()
    const refused = await later.post(`[${later.request('ping')}]`)
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ id: null, error: { code: -32600 } })
  })

  it('is not stuck after a cancellation of its initialize', async () => {
    const client = new RawHttpClient(`${service.url}/mcp`)
    expect((await client.initialize()).status).toBe(200)
    const params = { requestId: 1 }
    await client.post(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params }))
    expect((await client.call('tools/list')).result.tools[0].name).toBe('echo')
  })

  it('sends what belongs to no request on a stream of its own, and again after a break', async () => {
    const client = await connect()
    upstream.announce('notifications/resources/updated', '"uri":"test://before"')
    const gone = new AbortController()
    const events = eventsOf(await client.get({}, gone.signal))
    await eventually(async () => {
      upstream.announce('notifications/resources/updated', '"uri":"test://a"')
      expect((await events.next()).value).toBeDefined()
    })
    let last = (await events.next()).value as ServerEvent
    while (!last.data.includes('test://a')) last = (await events.next()).value as ServerEvent
    gone.abort()
    await events.next().catch(() => {})
    upstream.announce('notifications/resources/updated', '"uri":"test://b"')
    const again = eventsOf(await client.get({ 'last-event-id': String(last.id) }))
    for (;;) {
      const { value } = await again.next()
      if (value.data.includes('test://b')) break
    }
  })

  it('has haversack_retrieve beside the servers at /mcp, and not at the path of one', async () => {
    const all = await connect()
    const names = async (client: RawHttpClient) =>
      (await client.call('tools/list')).result.tools.map(({ name }: { name: string }) => name)
    expect(await names(all)).toEqual(['echo', 'haversack_retrieve'])
    const one = new RawHttpClient(`${service.url}/mcp/servers/one`)
    await one.initialize()
    expect(await names(one)).toEqual(['echo'])
    await one.delete()
    const none = new RawHttpClient(`${service.url}/mcp/servers/none`)
    expect((await none.initialize()).status).toBe(404)
  })

  it('ends with DELETE, upstream too', async () => {
    const own = await RecordingUpstream.start({ era: 'legacy', sessions: true })
    const other = await startSmallService({ mcp: { servers: { one: { url: own.url } } } })
    try {
      const client = new RawHttpClient(`${other.url}/mcp`)
      await client.initialize()
      await client.call('tools/list')
      expect((await client.delete()).status).toBe(200)
      expect((await client.post(client.request('ping'))).status).toBe(404)
      await eventually(() =>
        expect(own.calls.some(({ http }) => http?.method === 'DELETE')).toBe(true),
      )
    } finally {
      await other.close()
      await own.close()
    }
  })
})
