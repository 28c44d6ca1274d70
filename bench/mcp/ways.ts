import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type LinesClient, nextNonce, type Peer, startPeer } from './lines-client.ts'
import type { ToolName } from './results.ts'

/** The ways to the same server over stdio. */
export const WAYS = ['direct', 'relay', 'gateway'] as const
export type Way = (typeof WAYS)[number]
export type Peers = Readonly<Record<Way, Peer>>

const script = (name: string) => fileURLToPath(new URL(name, import.meta.url))
export const UPSTREAM = script('upstream-server.ts')

/** @param folder of the gateway's configuration and data */
export async function startPeers(folder: string): Promise<Peers> {
  const config = join(folder, 'haversack.toml')
  const [command, args] = [process.execPath, [UPSTREAM]].map(each => JSON.stringify(each))
  const server = `command = ${command}\nargs = ${args}\n`
  writeFileSync(config, `[log]\nlevel = "error"\n\n[mcp.servers.bench0]\n${server}`)
  const gateway = [script('../../src/cli.ts'), 'mcp', '--config', config]
  return {
    direct: await startPeer([UPSTREAM]),
    relay: await startPeer(['--no-warnings', script('sdk-relay.ts'), process.execPath, UPSTREAM]),
    gateway: await startPeer([...gateway, '--data-dir', join(folder, 'data')]),
  }
}

/** Calls a tool. Returns the bytes of the answer; throws if it is not this call's. */
export async function call(peer: Pick<LinesClient, 'request'>, tool: ToolName): Promise<number> {
  const nonce = nextNonce()
  const params = `{"name":"${tool}","arguments":{"nonce":"${nonce}"}}`
  const answer = await peer.request('tools/call', params)
  if (!answer.includes(nonce)) throw new Error(`another answer: ${answer.toString('utf8', 0, 300)}`)
  return answer.length
}
