import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Peer } from './peer.ts'
import { startStdioPeer } from './stdio-peer.ts'
import { script, type Ways } from './ways.ts'

const CLI = script('../../src/cli.ts')

/** Each way with processes of its own, over stdio on both sides. */
export async function startStdioWays(): Promise<Ways> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-mcp-'))
  const upstream = [script('upstream-server.ts')]
  const peers = {
    direct: await startStdioPeer({ name: 'upstream', args: upstream }),
    relay: await startStdioPeer({
      name: 'relay',
      args: ['--no-warnings', script('sdk-relay.ts'), process.execPath, ...upstream],
    }),
    gateway: await startGateway(folder, upstream),
  }
  return {
    peers,
    async close() {
      await Promise.all(Object.values(peers).map(peer => peer.close()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** `haversack mcp` with servers that are the same script with its arguments: `bench0` and so on. */
function startGateway(folder: string, args: readonly string[], servers = 1): Promise<Peer> {
  const config = join(folder, 'haversack.toml')
  const [command, list] = [process.execPath, args].map(each => JSON.stringify(each))
  const tables = Array.from(
    { length: servers },
    (_, i) => `[mcp.servers.bench${i}]\ncommand = ${command}\nargs = ${list}\n`,
  )
  writeFileSync(config, `[log]\nlevel = "error"\n\n${tables.join('\n')}`)
  const run = [CLI, 'mcp', '--config', config, '--data-dir', join(folder, 'data')]
  return startStdioPeer({ name: 'gateway', args: run })
}
