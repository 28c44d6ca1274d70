import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Server, startServer } from '../support/processes.ts'
import { openHttpPeer, type Peer, startStdioPeer } from './peer.ts'

/** The ways to the same upstream that are compared. */
export const WAYS = ['direct', 'relay', 'gateway'] as const
export type Way = (typeof WAYS)[number]

export interface Ways {
  readonly peers: Readonly<Record<Way, Peer>>
  close(): Promise<void>
}

/** A script of this folder. */
export function script(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

/** So that a client calls every tool through `call_tool`. */
const SEARCH = '[mcp.search]\nmode = "always"\n'

/** A client that does so. */
function callsBySearch(peer: Peer): Peer {
  return {
    ...peer,
    request: (method, params) =>
      method === 'tools/call'
        ? peer.request(method, `{"name":"call_tool","arguments":${params}}`)
        : peer.request(method, params),
  }
}

/** The service with one server, over HTTP. */
async function serveGateway({ port }: Server, search: boolean) {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-mcp-'))
  const config = join(folder, 'haversack.toml')
  const table = `[mcp.servers.bench0]\nurl = "http://127.0.0.1:${port}/mcp"\n`
  writeFileSync(config, `${table}${search ? SEARCH : ''}`)
  const service = await startServer('../src/main.ts', {
    HAVERSACK_PORT: '0',
    HAVERSACK_LOG_LEVEL: 'warn',
    HAVERSACK_CONFIG: config,
  })
  return {
    url: `http://127.0.0.1:${service.port}/mcp`,
    pid: service.pid,
    async stop() {
      await service.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Each way with processes of its own, over HTTP on both sides. */
export async function startHttpWays(search: boolean): Promise<Ways> {
  const upstream = await startServer('mcp/upstream-server.ts', { BENCH_HTTP: '1' })
  const direct = `http://127.0.0.1:${upstream.port}/mcp`
  const relay = await startServer('mcp/sdk-relay.ts', { UPSTREAM_URL: direct })
  const gateway = await serveGateway(upstream, search)
  const served = await openHttpPeer(gateway.url, { gateway: gateway.pid })
  const peers = {
    direct: await openHttpPeer(direct, { upstream: upstream.pid }),
    relay: await openHttpPeer(`http://127.0.0.1:${relay.port}/mcp`, { relay: relay.pid }),
    gateway: search ? callsBySearch(served) : served,
  }
  return {
    peers,
    async close() {
      await Promise.all(Object.values(peers).map(peer => peer.close()))
      await Promise.all([gateway.stop(), relay.stop()])
      await upstream.stop()
    },
  }
}

const CLI = script('../../src/cli.ts')

/** Each way with processes of its own, over stdio on both sides. */
export async function startStdioWays(search: boolean): Promise<Ways> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-mcp-'))
  const upstream = [script('upstream-server.ts')]
  const peers = {
    direct: await startStdioPeer({ name: 'upstream', args: upstream }),
    relay: await startStdioPeer({
      name: 'relay',
      args: ['--no-warnings', script('sdk-relay.ts'), process.execPath, ...upstream],
    }),
    gateway: await startGateway(folder, upstream, search),
  }
  return {
    peers,
    async close() {
      await Promise.all(Object.values(peers).map(peer => peer.close()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** `haversack mcp` with one server. */
async function startGateway(
  folder: string,
  args: readonly string[],
  search: boolean,
): Promise<Peer> {
  const config = join(folder, 'haversack.toml')
  const [command, list] = [process.execPath, args].map(each => JSON.stringify(each))
  const table = `[mcp.servers.bench0]\ncommand = ${command}\nargs = ${list}\n`
  writeFileSync(config, `[log]\nlevel = "error"\n\n${table}${search ? SEARCH : ''}`)
  const run = [CLI, 'mcp', '--config', config, '--data-dir', join(folder, 'data')]
  const peer = await startStdioPeer({ name: 'gateway', args: run })
  return search ? callsBySearch(peer) : peer
}
