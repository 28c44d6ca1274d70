import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Server, startServer } from '../support/processes.ts'
import { openHttpPeer } from './http-peer.ts'
import type { Ways } from './ways.ts'

/** The service with these servers, each over HTTP. */
export interface ServedGateway {
  readonly url: string
  readonly pid: number
  stop(): Promise<unknown>
}

async function serveGateway(upstreams: readonly Server[]): Promise<ServedGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-mcp-'))
  const config = join(folder, 'haversack.toml')
  const tables = upstreams.map(
    ({ port }, i) => `[mcp.servers.bench${i}]\nurl = "http://127.0.0.1:${port}/mcp"\n`,
  )
  writeFileSync(config, tables.join('\n'))
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

function startUpstream(env: NodeJS.ProcessEnv = {}): Promise<Server> {
  return startServer('mcp/upstream-server.ts', { BENCH_HTTP: '1', ...env })
}

/** Each way with processes of its own, over HTTP on both sides. */
export async function startHttpWays(): Promise<Ways> {
  const upstream = await startUpstream()
  const direct = `http://127.0.0.1:${upstream.port}/mcp`
  const relay = await startServer('mcp/sdk-relay.ts', { UPSTREAM_URL: direct })
  const gateway = await serveGateway([upstream])
  const peers = {
    direct: await openHttpPeer(direct, { upstream: upstream.pid }),
    relay: await openHttpPeer(`http://127.0.0.1:${relay.port}/mcp`, { relay: relay.pid }),
    gateway: await openHttpPeer(gateway.url, { gateway: gateway.pid }),
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
