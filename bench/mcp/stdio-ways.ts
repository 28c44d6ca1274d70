import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Peer } from './peer.ts'
import { startStdioPeer } from './stdio-peer.ts'
import { callsBySearch, SEARCH, script, type Ways } from './ways.ts'

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
