import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Server } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'

/**
 * The relay over stdio that the official SDK makes in a few lines, with its own defaults:
 * `node sdk-relay.ts COMMAND ARGS…`.
 */
const INFO = { name: 'sdk-relay', version: '1' }
const upstream = new Client(INFO)
const [command = '', ...args] = process.argv.slice(2)
await upstream.connect(new StdioClientTransport({ command, args }))

const relay = new Server(INFO, { capabilities: { tools: {} } })
relay.setRequestHandler('tools/list', ({ params }) => upstream.listTools(params))
relay.setRequestHandler('tools/call', ({ params }) => upstream.callTool(params))
await relay.connect(new StdioServerTransport())
// The transport does not end with its input.
process.stdin.on('end', () => void upstream.close().finally(() => process.exit()))
