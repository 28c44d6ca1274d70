import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'

/**
 * The relay that the official SDK makes in a few lines, with its own defaults: over stdio if it is
 * given a command, `node sdk-relay.ts COMMAND ARGS…`, over HTTP if `UPSTREAM_URL` names a server.
 */
const INFO = { name: 'sdk-relay', version: '1' }
const url = process.env['UPSTREAM_URL']

const upstream = new Client(INFO)
const [command = '', ...args] = process.argv.slice(2)
await upstream.connect(
  url === undefined
    ? new StdioClientTransport({ command, args })
    : new StreamableHTTPClientTransport(new URL(url)),
)

function createRelay(): Server {
  const server = new Server(INFO, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', ({ params }) => upstream.listTools(params))
  server.setRequestHandler('tools/call', ({ params }) => upstream.callTool(params))
  return server
}

if (url === undefined) {
  await createRelay().connect(new StdioServerTransport())
  // The transport does not end with its input.
  process.stdin.on('end', () => void upstream.close().finally(() => process.exit()))
} else serveHttp()

function serveHttp(): void {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  const endpoint = async (request: Request) => {
    const known = sessions.get(request.headers.get('mcp-session-id') ?? '')
    if (known !== undefined) return known.handleRequest(request)
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: id => void sessions.set(id, transport),
    })
    await createRelay().connect(transport)
    return transport.handleRequest(request)
  }
  const server = createServer(getRequestListener(endpoint, { overrideGlobalObjects: false }))
  server.keepAliveTimeout = 600_000
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
  })
}
