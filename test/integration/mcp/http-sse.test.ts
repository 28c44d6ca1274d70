import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  CreateMessageResultSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { afterEach, describe, expect, it } from 'vitest'
import type { UpstreamConnection } from '../../../src/mcp/upstream/connection.ts'
import { eventually } from '../../support/eventually.ts'
import {
  callOf,
  connectTo,
  httpTarget,
  resultOf,
  textOfEnd,
  toolCall,
} from '../../support/mcp/connect.ts'
import {
  type Answer,
  event,
  type HttpUpstream,
  result,
  startHttpUpstream,
  stream,
} from '../../support/mcp/http-upstream.ts'
import { type SseServer, startSseServer } from '../../support/mcp/sse-server.ts'

const HEADERS = { Authorization: 'Bearer x' }
const FACTS = '{"protocolVersion":"2024-11-05","capabilities":{}}'

let server: SseServer | HttpUpstream
let connection: UpstreamConnection
let events: string[]
let runs: string[]
let cancelled: boolean

afterEach(async () => {
  await connection.close()
  await server.close()
})

function registerTools(sdk: Server): void {
  sdk.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [{ name: 'echo', inputSchema: { type: 'object' } }],
  }))
  sdk.setRequestHandler(CallToolRequestSchema, async ({ params: { name } }, extra) => {
    runs.push(name)
    extra.signal.addEventListener('abort', () => {
      cancelled = true
    })
    if (name === 'hang') await new Promise(() => {})
    if (name === 'progress') {
      await extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken: extra._meta?.progressToken ?? 0, progress: 1 },
      })
    }
    if (name !== 'ask') return { content: [{ type: 'text', text: name }] }
    const params = { messages: [], maxTokens: 1 }
    const request = { method: 'sampling/createMessage', params } as const
    const { model } = await extra.sendRequest(request, CreateMessageResultSchema)
    return { content: [{ type: 'text', text: model }] }
  })
}

async function connectSdk(): Promise<SseServer> {
  runs = []
  cancelled = false
  const started = await startSseServer(
    registerTools,
    headers => headers.authorization === 'Bearer x',
  )
  server = started
  ;({ connection, events } = connectTo(httpTarget(started.url, HEADERS)))
  expect(await connection.facts()).toMatchObject({ era: 'legacy' })
  return started
}

describe('a server of HTTP+SSE by the official SDK', () => {
  it('is connected to after it refused a POST, and lists and answers', async () => {
    const { arrived } = await connectSdk()
    const list = await connection.call(callOf('tools/list', null))
    expect(textOfEnd(list)).toContain('"name":"echo"')
    const ends = await Promise.all(['a', 'b', 'c'].map(name => connection.call(toolCall(name))))
    expect(ends.map(textOfEnd)).toEqual(
      ['a', 'b', 'c'].map(text => `{"content":[{"type":"text","text":"${text}"}]}`),
    )
    expect(arrived.map(({ method }) => method).slice(0, 4)).toEqual(['POST', 'POST', 'GET', 'POST'])
    for (const { headers } of arrived) expect(headers.authorization).toBe('Bearer x')
  })

  it('asks the client, reports progress, and is told of a cancellation', async () => {
    await connectSdk()
    const asking = callOf('tools/call', '{"name":"ask"}', {
      ask: () =>
        Promise.resolve(
          resultOf('{"model":"mine","role":"assistant","content":{"type":"text","text":"x"}}'),
        ),
    })
    expect(textOfEnd(await connection.call(asking))).toContain('mine')
    const progress = callOf('tools/call', '{"name":"progress","_meta":{"progressToken":"p"}}')
    await connection.call(progress)
    expect(progress.notified).toEqual(['notifications/progress {"progressToken":"p","progress":1}'])
    const abort = new AbortController()
    const hanging = connection.call(toolCall('hang', { signal: abort.signal }))
    await eventually(() => expect(runs).toContain('hang'))
    abort.abort()
    expect(await hanging).toEqual({ kind: 'aborted' })
    await eventually(() => expect(cancelled).toBe(true))
  })

  it('is connected to again after its stream is cut, and what ran is not sent twice', async () => {
    const { cut } = await connectSdk()
    const hanging = connection.call(toolCall('hang'))
    await eventually(() => expect(runs).toContain('hang'))
    cut()
    expect(await hanging).toEqual({ kind: 'lost', hasRun: 'maybe' })
    // Without a call: its notifications come on the stream.
    await eventually(() => expect(events.at(-1)).toBe('connected legacy'))
    expect(events).toEqual(['connected legacy', 'lost', 'connected legacy'])
    expect(textOfEnd(await connection.call(toolCall('after')))).toContain('after')
    expect(runs).toEqual(['hang', 'after'])
  })

  it.each([
    [404, 'answered'],
    [400, 'malformed'],
    [500, 'malformed'],
    [503, 'lost'],
  ])('has another session once it answers posts with %i', async (status, kind) => {
    const { refuse } = await connectSdk()
    // The call, and the ping that looks for the session.
    refuse(status, status === 404 ? 1 : 2)
    expect(await connection.call(toolCall('first'))).toMatchObject({ kind })
    expect(textOfEnd(await connection.call(toolCall('next')))).toContain('next')
    expect(events.filter(each => each === 'connected legacy')).toHaveLength(2)
  })

  it('keeps its session where it still takes a ping', async () => {
    const { refuse } = await connectSdk()
    refuse(500, 1)
    expect(await connection.call(toolCall('first'))).toMatchObject({ kind: 'malformed' })
    expect(textOfEnd(await connection.call(toolCall('next')))).toContain('next')
    expect(events).toEqual(['connected legacy'])
  })
})

/** Connects to a server that a test writes by hand; a POST of a call is `post`. */
async function connectRaw(
  address: string,
  post: (send: (text: string) => boolean, id: unknown) => void,
  limits: Parameters<typeof connectTo>[1] = {},
): Promise<HttpUpstream> {
  let send = (_: string) => false
  const answer: Answer = (response, { method, path, rpcMethod, id }) => {
    if (method === 'GET') {
      stream(response, `event: endpoint\ndata: ${address}\n\n`)
      send = text => response.write(text)
    } else if (path === '/mcp') response.writeHead(405).end()
    else {
      response.writeHead(202).end('Accepted')
      if (rpcMethod === 'initialize') send(event(result(id, FACTS)))
      else if (rpcMethod === 'tools/call') post(send, id)
    }
  }
  const upstream = await startHttpUpstream(answer)
  server = upstream
  ;({ connection, events } = connectTo(httpTarget(upstream.url, HEADERS), limits))
  return upstream
}

describe('a hostile server of HTTP+SSE', () => {
  it('that names an address at another origin is not posted to, nor is that', async () => {
    let others = 0
    const other = createServer((_, response) => {
      others++
      response.end()
    })
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as AddressInfo
    const upstream = await connectRaw(`http://127.0.0.1:${port}/latest`, () => {})
    expect(await connection.facts()).toBeNull()
    const end = await connection.call(toolCall('x', { timeoutMs: 100 }))
    expect(end.kind).not.toBe('answered')
    expect(others).toBe(0)
    expect(upstream.arrived.every(({ path }) => path === '/mcp')).toBe(true)
    other.close()
  })

  it.each(['//metadata.test/x', 'http://[', `/${'x'.repeat(5_000)}`, 'file:///etc/passwd'])(
    'that names %.20s has no session',
    async address => {
      await connectRaw(address, () => {})
      expect(await connection.facts()).toBeNull()
    },
  )

  it('that names no address is no server of that kind', async () => {
    const answer: Answer = (response, { method }) =>
      method === 'GET' ? stream(response, ': quiet\n\n') : void response.writeHead(405).end()
    server = await startHttpUpstream(answer)
    ;({ connection } = connectTo(httpTarget(server.url), {
      limits: { probeMs: 200, firstWaitMs: 10, downWaitMs: 10 },
    }))
    expect(await connection.facts()).toBeNull()
    expect(await connection.call(toolCall('x'))).toEqual({
      kind: 'down',
      detail: 'it answers with no MCP: HTTP 405 without an answer',
    })
  })

  it('is cut off when it floods', async () => {
    const ping = (n: number) => event(`{"jsonrpc":"2.0","id":${n},"method":"ping"}`)
    const flood = Array.from({ length: 20_000 }, (_, n) => ping(n)).join('')
    const upstream = await connectRaw('/post', send => send(flood))
    expect(await connection.call(toolCall('x'))).toEqual({ kind: 'flooded' })
    // Answers to pings go through one queue, which is bounded.
    expect(upstream.of('POST').length).toBeLessThan(2_000)
  })

  it('cannot send more than a message may have, in events of any parts', async () => {
    await connectRaw('/post', send => send(`data: ${'x'.repeat(60)}\n`.repeat(20)), {
      limits: { messageBytes: 1_000 },
    })
    expect(await connection.call(toolCall('x'))).toEqual({
      kind: 'malformed',
      detail: 'the answer is too large',
    })
  })

  it('may send an answer a byte at a time, and before it takes the request', async () => {
    const text = 'y'.repeat(20_000)
    await connectRaw('/post?a=1#b', (send, id) => {
      for (const byte of event(result(id, `{"content":"${text}"}`))) send(byte)
    })
    expect(textOfEnd(await connection.call(toolCall('x')))).toContain(text)
  })
})
