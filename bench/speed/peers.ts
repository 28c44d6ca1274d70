import { spawn, spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { endWithThis } from '../../test/support/end-with-this.ts'

/** A gateway of somebody else, which forwards to the stand-in of the vendor. */
export interface Peer {
  readonly name: string
  readonly url: string
  readonly pid: number
  readonly headers: Readonly<Record<string, string>>
  stop(): void
}

/** Pinned, so that a figure can be repeated. */
const PORTKEY = { name: '@portkey-ai/gateway', version: '1.15.2' }
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

/** Installs the peers into a folder, and starts them. */
export async function startPeers(folder: string, upstream: string): Promise<readonly Peer[]> {
  const { name, version } = PORTKEY
  const install = ['install', '--prefix', folder, '--no-audit', '--no-fund', `${name}@${version}`]
  const { status } = spawnSync('npm', install, { stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error(`${name} cannot be installed`)
  const port = await freePort()
  const script = join(folder, 'node_modules', name, 'build/start-server.js')
  const child = spawn(process.execPath, [script, `--port=${port}`, '--headless'], {
    stdio: 'ignore',
    env: { ...process.env, TRUSTED_CUSTOM_HOSTS: '127.0.0.1' },
  })
  endWithThis(child)
  const url = `http://127.0.0.1:${port}`
  await answers(url)
  const headers = { 'x-portkey-provider': 'anthropic', 'x-portkey-custom-host': `${upstream}/v1` }
  const peer = { name: `${name} ${version}`, url, pid: child.pid ?? 0, headers }
  return [{ ...peer, stop: () => child.kill('SIGTERM') }]
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
