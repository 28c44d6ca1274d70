import { spawn, spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { endWithThis } from '../../test/support/end-with-this.ts'
import type { LinesClient } from '../mcp/lines-client.ts'
import { UPSTREAM } from '../mcp/ways.ts'

/** A server of others, with its pinned version in its name. */
export interface Peer {
  readonly name: string
  readonly url: string
  readonly pid: number
  readonly headers: Readonly<Record<string, string>>
  stop(): void
}

/** A package from npm, pinned, so that a figure can be repeated. */
interface Package {
  readonly name: string
  readonly version: string
  readonly file: string
}

const PORTKEY = { name: '@portkey-ai/gateway', version: '1.15.2', file: 'build/start-server.js' }
const MCP_PROXY = { name: 'mcp-proxy', version: '6.7.19', file: 'dist/bin/mcp-proxy.mjs' }
const START_MS = 60_000

/** A port that nobody has at this moment. */
function freePort(): Promise<number> {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { readonly port: number }
      server.close(() => resolve(port))
    })
  })
}

/** Installs a package into a folder, and starts its server. */
async function startPeer(
  folder: string,
  { name, version, file }: Package,
  argsOf: (port: number) => readonly string[],
): Promise<Peer> {
  const install = ['install', '--prefix', folder, '--no-audit', '--no-fund', `${name}@${version}`]
  const { status } = spawnSync('npm', install, { stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error(`${name} cannot be installed`)
  const port = await freePort()
  const program = join(folder, 'node_modules', name, file)
  const child = spawn(process.execPath, [program, ...argsOf(port)], {
    stdio: 'ignore',
    env: { ...process.env, TRUSTED_CUSTOM_HOSTS: '127.0.0.1' },
  })
  endWithThis(child)
  const url = `http://127.0.0.1:${port}`
  await answers(url)
  const stop = () => void child.kill('SIGTERM')
  return { name: `${name} ${version}`, url, pid: child.pid ?? 0, headers: {}, stop }
}

/** A gateway that forwards to the stand-in of the vendor. */
export async function startGateway(folder: string, upstream: string): Promise<Peer> {
  const peer = await startPeer(folder, PORTKEY, port => [`--port=${port}`, '--headless'])
  const headers = { 'x-portkey-provider': 'anthropic', 'x-portkey-custom-host': `${upstream}/v1` }
  return { ...peer, headers }
}

/** A relay from HTTP to the bench's own MCP server over stdio. */
export async function startMcpProxy(folder: string): Promise<Peer & Requests> {
  const command = ['--', process.execPath, UPSTREAM]
  const peer = await startPeer(folder, MCP_PROXY, port => [
    ...['--server', 'stream', '--host', '127.0.0.1', '--port', String(port), ...command],
  ])
  return { ...peer, ...(await openSession(`${peer.url}/mcp`)) }
}

type Requests = Pick<LinesClient, 'request'>

/** A client of MCP over HTTP. */
async function openSession(url: string): Promise<Requests> {
  const accept = 'application/json, text/event-stream'
  const headers: Record<string, string> = { 'content-type': 'application/json', accept }
  const post = async (message: object) => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    const answer = await fetch(url, { method: 'POST', headers, body })
    headers['mcp-session-id'] ??= answer.headers.get('mcp-session-id') ?? ''
    return Buffer.from(await answer.arrayBuffer())
  }
  const clientInfo = { name: 'bench', version: '1' }
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
  await post({ id: 0, method: 'initialize', params })
  await post({ method: 'notifications/initialized' })
  let id = 0
  return {
    request: (method, text) => post({ id: ++id, method, params: JSON.parse(text) }),
  }
}

async function answers(url: string): Promise<void> {
  const deadline = Date.now() + START_MS
  while (Date.now() < deadline) {
    const isThere = await fetch(url).then(
      () => true,
      () => false,
    )
    if (isThere) return
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  throw new Error(`${url} does not answer`)
}
