import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Server, startServer } from '../support/processes.ts'
import { openHttpPeer } from './http-peer.ts'
import { callsBySearch, SEARCH, type Ways } from './ways.ts'

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
