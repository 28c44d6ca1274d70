import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { configSchema } from '../../../src/config/config.ts'
import { createLogger } from '../../../src/observability/logger.ts'
import { type Service, startService } from '../../../src/service/service.ts'
import { eventually } from '../../support/eventually.ts'
import { eventsOf, RawHttpClient, type ServerEvent } from '../../support/mcp/http-client.ts'
import type { Exchange } from '../../support/mcp/recording/exchange.ts'
import { RecordingUpstream } from '../../support/mcp/recording-upstream.ts'

const TEXT = '{"content":[{"type":"text","text":"done"}]}'

const folder = mkdtempSync(join(tmpdir(), 'haversack-http-front-'))
let upstream: RecordingUpstream
let service: Service
beforeAll(async () => {
  upstream = await RecordingUpstream.start({ era: 'legacy' })
  const config = configSchema.parse({
    port: 0,
    data_dir: folder,
    workers: { count: 1 },
    limits: { drain_grace_ms: 0 },
    mcp: { servers: { one: { url: upstream.url } } },
  })
  service = await startService(config, { logger: createLogger('silent') })
})
afterAll(async () => {
  await service.close()
  await upstream.close()
  rmSync(folder, { recursive: true })
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
})
