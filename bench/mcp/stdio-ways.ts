import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Peer } from './peer.ts'
import { startStdioPeer } from './stdio-peer.ts'

/** The ways to the same upstream that are compared. */
export const WAYS = ['direct', 'relay', 'gateway'] as const
export type Way = (typeof WAYS)[number]

export interface Ways {
  readonly peers: Readonly<Record<Way, Peer>>
  close(): Promise<void>
}

export const script = (name: string) => fileURLToPath(new URL(name, import.meta.url))
export const CLI = script('../../src/cli.ts')

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
    gateway: await startGateway(folder, { bench: upstream }),
  }
  return {
    peers,
    async close() {
      await Promise.all(Object.values(peers).map(peer => peer.close()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** `haversack mcp` with these servers, by name, each a script with its arguments. */
export function startGateway(
  folder: string,
  servers: Readonly<Record<string, readonly string[]>>,
  extra = '',
): Promise<Peer> {
  const config = join(folder, 'haversack.toml')
  const tables = Object.entries(servers).map(
    ([name, args]) =>
      `[mcp.servers.${name}]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(args)}\n`,
  )
  writeFileSync(config, `${extra}\n[log]\nlevel = "warn"\n\n${tables.join('\n')}`)
  const args = [CLI, 'mcp', '--config', config, '--data-dir', join(folder, 'data')]
  return startStdioPeer({ name: 'gateway', args })
}
