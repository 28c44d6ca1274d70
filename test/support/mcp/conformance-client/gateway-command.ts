import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const CLI = fileURLToPath(new URL('../../../../src/cli.ts', import.meta.url))

/** `haversack mcp` before one server, as files and arguments. */
export interface GatewayCommand {
  /** Arguments of Node for an action, or for the gateway itself. */
  args(...action: string[]): string[]
  /** Logs in, as a browser whose user agrees to everything. Returns the exit code. */
  login(): Promise<number>
  remove(): void
}

/** @param auth the member `auth` of the server's configuration, as TOML */
export function gatewayCommand(url: string, auth: string): GatewayCommand {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-conformance-client-'))
  const config = join(folder, 'haversack.toml')
  const server = `[mcp.servers.up]\nurl = ${JSON.stringify(url)}\nauth = ${auth}\n`
  writeFileSync(config, `[workers]\ncount = 1\n${server}`)
  const args = (...action: string[]) => [
    ...[CLI, 'mcp', ...action, '--config', config, '--data-dir', join(folder, 'data')],
  ]
  return {
    args,
    login: () => login(args('login', 'up', '--no-browser')),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function login(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = once(child, 'exit')
  createInterface({ input: child.stdout }).once('line', url => {
    agree(url).catch(error => process.stderr.write(`the browser failed: ${error}\n`))
  })
  const [code] = await exit
  return code as number
}

/** Follows the redirects of an authorization page, to the end at our own listener. */
async function agree(start: string): Promise<void> {
  let url = start
  for (let redirects = 0; redirects < 5; redirects++) {
    const answer = await fetch(url, { redirect: 'manual' })
    await answer.text()
    const location = answer.headers.get('location')
    if (location === null) return
    url = new URL(location, url).href
  }
}
