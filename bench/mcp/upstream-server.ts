import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { LineReader } from '../../src/mcp/upstream/line-reader.ts'
import { type Halves, resultsOf, TOOLS, type ToolName } from './results.ts'

/**
 * An MCP server that costs next to nothing: over stdio, or with `BENCH_HTTP` over Streamable
 * HTTP; then it prints where it listens. It writes results that were made at the tool's first call,
 * with the call's `nonce` in each, and with a `ticket` the number of the call too. With `BENCH_ERA`
 * = `modern` it is a server of 2026-07-28.
 */
const isModern = process.env['BENCH_ERA'] === 'modern'
const COMPLETE = isModern ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } : {}
const results = new Map<string, readonly Halves[]>()
/** Which of many servers it is. */
const SERVER = process.env['BENCH_SERVER'] ?? '0'
let turn = 0
let calls = 0
let lists = 0

const INITIALIZED = JSON.stringify({
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'bench', version: '1' },
})
const DISCOVERED = JSON.stringify({
  ...COMPLETE,
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
})
const LIST = JSON.stringify({
  ...COMPLETE,
  tools: [...TOOLS, 'counts', 'hang'].map(name => ({
    name,
    inputSchema: { type: 'object', properties: { nonce: { type: 'string' } } },
  })),
})

/** @returns `null` if there is no answer */
function answer(line: Buffer): Buffer | null {
  const { id, method, params } = JSON.parse(line.toString()) as {
    id?: number | string
    method: string
    params?: {
      name: ToolName | 'counts' | 'hang'
      arguments?: { nonce?: string; ticket?: boolean }
    }
  }
  if (id === undefined) return null
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`
  if (isModern && method === 'server/discover') {
    return Buffer.from(`${head}"result":${DISCOVERED}}`)
  }
  if (!isModern && method === 'initialize') return Buffer.from(`${head}"result":${INITIALIZED}}`)
  if (method === 'tools/list') {
    lists++
    return Buffer.from(`${head}"result":${LIST}}`)
  }
  if (method !== 'tools/call' || params === undefined) {
    return Buffer.from(`${head}"error":{"code":-32601,"message":"no such method"}}`)
  }
  if (params.name === 'hang') return null
  if (params.name === 'counts') {
    const text = JSON.stringify(JSON.stringify({ calls, lists, pid: process.pid }))
    return Buffer.from(`${head}"result":{"content":[{"type":"text","text":${text}}]}}`)
  }
  calls++
  const variants = results.get(params.name) ?? resultsOf(params.name)
  results.set(params.name, variants)
  const [before, after] = variants[turn++ % variants.length]!
  const { nonce = '', ticket = false } = params.arguments ?? {}
  return Buffer.concat([
    Buffer.from(`${head}"result":${isModern ? '{"resultType":"complete",' : '{'}`),
    before.subarray(1),
    Buffer.from(ticket ? `${nonce}x${SERVER}x${calls}x` : nonce),
    after,
    Buffer.from('}'),
  ])
}

function serveStdio(): void {
  const lines = new LineReader(1e9)
  process.stdin.on('data', chunk => {
    lines.push(chunk as Buffer, line => {
      const bytes = answer(line)
      if (bytes !== null) process.stdout.write(Buffer.concat([bytes, Buffer.from('\n')]))
    })
  })
}

function serveHttp(): void {
  const server = createServer(async (request, response) => {
    if (request.method !== 'POST') return response.writeHead(405).end()
    const bytes = answer(await buffer(request))
    if (bytes === null) return response.writeHead(202).end()
    return response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length })
      .end(bytes)
  })
  server.keepAliveTimeout = 600_000
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
  })
}

if (process.env['BENCH_HTTP'] !== undefined) serveHttp()
else serveStdio()
