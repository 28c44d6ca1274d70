/**
 * Calls ahead, live: `npm run bench -- speculation [--turns N] [--think_ms N] [--json]`. A scripted
 * agent calls two servers over HTTP through the gateway, with calls ahead and without. Each server
 * takes 50 to 500 ms. A turn is a list, one of its items, and that item's comments; of some turns
 * the agent looks at nothing. The agent thinks between calls, as a model does.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { configSchema } from '../src/config/config.ts'
import type { Gateway } from '../src/mcp/gateway.ts'
import { createLogger } from '../src/observability/logger.ts'
import { startEmbedded } from '../src/service/embedded.ts'
import { gatewayFactory } from '../src/service/stdio-gateway.ts'
import { machine } from './support/machine.ts'
import { tableOf } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { createRandom } from './support/random.ts'
import { median, percentile } from './support/statistics.ts'

const options = readOptions({ turns: 40, think_ms: 400, json: false })

const LIST = {
  follow_up: [{ tool: 'get', probability: 0.9, projection: 'id', projection_arg: 'id' }],
}
const GET = {
  follow_up: [{ tool: 'comments', probability: 0.9, projection: 'id', projection_arg: 'id' }],
}
const SCHEMA = { type: 'object', properties: { id: { type: 'string' } } }
const TOOLS = ['list', 'get', 'comments'].map(name => ({
  ...{ name, inputSchema: SCHEMA },
  annotations: { readOnlyHint: true, openWorldHint: false },
}))

interface Upstream {
  readonly url: string
  calls: number
  bytes: number
  close(): void
}

/** A server over HTTP whose calls take 50 to 500 ms. */
async function startUpstream(seed: number): Promise<Upstream> {
  const random = createRandom(seed)
  const body = (length: number) => 'what was said of it. '.repeat(length)
  const answer = (name: string, id: string): unknown => {
    if (name === 'list') return [{ id: `${id}-1` }, ...(random(3) === 0 ? [{ id: `${id}-2` }] : [])]
    return { id, text: body(name === 'get' ? 60 : 200) }
  }
  const server = createServer(async (request, response) => {
    const bytes = await buffer(request).catch(() => Buffer.alloc(0))
    if (bytes.length === 0) return void response.writeHead(405).end()
    const { id, method, params } = JSON.parse(bytes.toString())
    if (id === undefined) return void response.writeHead(202).end()
    let result: object = {
      ...{ protocolVersion: '2025-11-25', capabilities: { tools: {} } },
      serverInfo: { name: 'slow', version: '1' },
    }
    if (method === 'tools/list') result = { tools: TOOLS }
    else if (method === 'tools/call') {
      const text = JSON.stringify(answer(params.name, String(params.arguments.id)))
      result = { content: [{ type: 'text', text }] }
      upstream.calls++
      upstream.bytes += text.length
      await sleep(50 + random(451))
    } else if (method !== 'initialize') {
      response.setHeader('content-type', 'application/json')
      const error = { code: -32601, message: 'no such method' }
      return void response.end(JSON.stringify({ jsonrpc: '2.0', id, error }))
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  const upstream = { url: `http://127.0.0.1:${port}/mcp`, calls: 0, bytes: 0, close }
  return upstream
}

/** Plays all turns. @returns what each took, without the time in which the agent thinks */
async function playTurns(gateway: Gateway): Promise<readonly number[]> {
  const random = createRandom(3)
  let waited = 0
  const call = async (name: string, id: string): Promise<string> => {
    await sleep(options.think_ms)
    const started = performance.now()
    const outcome = await gateway.handle({
      method: 'tools/call',
      params: Buffer.from(JSON.stringify({ name, arguments: { id } })),
      ...{ signal: new AbortController().signal, context: null, notify: () => {} },
      ask: async () => ({ kind: 'result', result: Buffer.from('{}') }),
    })
    waited += performance.now() - started
    return outcome.kind === 'result' ? outcome.result.toString() : ''
  }
  const times: number[] = []
  for (let turn = 0; turn < options.turns; turn++) {
    waited = 0
    const server = turn % 2 === 0 ? 'a' : 'b'
    await call(`${server}__list`, `t${turn}`)
    // Of five turns one goes elsewhere.
    if (random(5) > 0) {
      await call(`${server}__get`, `t${turn}-1`)
      await call(`${server}__comments`, `t${turn}-1`)
    }
    times.push(waited)
  }
  return times
}

async function measure(isEnabled: boolean) {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-speculation-'))
  const upstreams = await Promise.all([startUpstream(1), startUpstream(2)])
  const [a, b] = upstreams.map(({ url }) => ({ url, trusted: true }))
  const config = configSchema.parse({
    data_dir: folder,
    limits: { drain_grace_ms: 0 },
    mcp: { servers: { a, b } },
    enrichment: { enabled: isEnabled },
    tools: { list: LIST, get: GET },
  })
  const logger = createLogger('silent')
  const service = await startEmbedded(config, logger)
  try {
    const createGateway = gatewayFactory(config, service.deps, { env: process.env, logger })
    const nothing = async () => ({ kind: 'result', result: Buffer.from('{}') }) as const
    const gateway = createGateway({
      ...{ name: 'bench', info: null, capabilities: Buffer.from('{}') },
      ...{ notify: () => {}, ask: nothing },
    })
    await gateway.ready(10_000)
    const times = await playTurns(gateway)
    await gateway.close()
    const text = await service.deps.metrics.registry.metrics()
    const fate = (name: string) =>
      Number(new RegExp(`prefetches_total\\{fate="${name}"\\} (\\d+)`).exec(text)?.[1] ?? 0)
    const wasted = /prefetch_wasted_bytes_total (\d+)/.exec(text)?.[1] ?? '0'
    return {
      calls_ahead: isEnabled ? 'on' : 'off',
      turn_ms: Math.round(median(times)),
      p90_ms: Math.round(percentile(times, 0.9)),
      dispatched: fate('dispatched'),
      served: fate('served'),
      joined: fate('joined'),
      wasted: fate('wasted'),
      wasted_bytes: Number(wasted),
      upstream_calls: upstreams.reduce((sum, { calls }) => sum + calls, 0),
      upstream_bytes: upstreams.reduce((sum, { bytes }) => sum + bytes, 0),
    }
  } finally {
    await service.close()
    for (const upstream of upstreams) upstream.close()
    rmSync(folder, { recursive: true })
  }
}

const rows = await Promise.all([measure(false), measure(true)])
if (options.json) console.log(JSON.stringify({ machine: machine(), rows }))
else console.log(`${tableOf(rows)}`)
