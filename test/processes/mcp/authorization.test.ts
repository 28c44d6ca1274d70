import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { agree, oauthScene } from '../../support/mcp/oauth.ts'

const CLI = new URL('../../../src/cli.ts', import.meta.url).pathname

/** Runs `haversack mcp …` on the folder of a scene; all that they write is kept. */
async function commands() {
  const scene = await oauthScene()
  scene.server.says.tools = '[{"name":"a","inputSchema":{"type":"object"}}]'
  const config = join(scene.folder, 'haversack.toml')
  const auth = 'auth = { kind = "oauth", client_id = "known", client_secret = "env:SECRET" }'
  const server = `[mcp.servers.one]\nurl = "${scene.server.url}"\n${auth}\n`
  writeFileSync(config, `[log]\nlevel = "debug"\n${server}`)
  let written = ''
  const run = (...action: string[]): ChildProcess => {
    const args = ['mcp', ...action, '--config', config, '--data-dir', join(scene.folder, 'data')]
    const env = { ...process.env, SECRET: 'planted-client-secret' }
    const child = spawn(process.execPath, [CLI, ...args], { env })
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', part => {
        written += part
      })
    }
    onTestFinished(async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill()
        await once(child, 'exit')
      }
    })
    return child
  }
  const login = async () => {
    const child = run('login', 'one', '--no-browser')
    createInterface({ input: child.stdout! }).once('line', page => void agree(new URL(page)))
    expect(await once(child, 'exit')).toEqual([0, null])
  }
  return { scene, run, login, written: () => written }
}

/** An agent's side of a gateway. */
function agentOf({ stdin, stdout }: ChildProcess) {
  const waiting = new Map<number, (answer: string) => void>()
  createInterface({ input: stdout! }).on('line', line => waiting.get(JSON.parse(line).id)?.(line))
  let last = 0
  const request = (method: string, params: object = {}): Promise<string> => {
    const id = ++last
    stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return new Promise(resolve => waiting.set(id, resolve))
  }
  const hello = { protocolVersion: '2025-11-25', clientInfo: { name: 'x', version: '1' } }
  return { request, ready: request('initialize', { ...hello, capabilities: {} }) }
}

it('lets two gateways renew one token in turn, and shows no secret to anybody', async () => {
  const { scene, run, login, written } = await commands()
  const { authority, folder } = scene
  const gateways = [agentOf(run()), agentOf(run())]
  await Promise.all(gateways.map(({ ready }) => ready))
  await eventually(() => expect(written()).toContain('login needed'))
  // Each token is renewed at once.
  authority.expiresIn = 1
  await login()
  for (const { request } of gateways) {
    await eventually(async () => expect(await request('tools/list')).toContain('"name":"a"'))
  }
  const renewals = () =>
    authority.tokenRequests.filter(({ params }) => params.get('grant_type') === 'refresh_token')
  while (renewals().length < 6) {
    const calls = gateways.map(({ request }) => request('tools/call', { name: 'a' }))
    for (const answer of await Promise.all(calls)) expect(answer).toContain('done')
  }
  expect(authority.reused).toEqual([])

  expect(written()).toContain('Logged in to one')
  expect(written()).not.toContain('planted')
  const files = readdirSync(join(folder, 'data'), { recursive: true, withFileTypes: true })
  const names = files
    .filter(file => file.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  expect(names.some(name => name.endsWith('mcp-credentials.sqlite'))).toBe(true)
  for (const name of names) expect(readFileSync(name).includes('planted'), name).toBe(false)
})

it('forgets a token on request', async () => {
  const { scene, run, login, written } = await commands()
  await login()
  for (const text of ['Forgot the token for one.', 'There was none for one.']) {
    expect(await once(run('logout', 'one'), 'exit')).toEqual([0, null])
    expect(written()).toContain(text)
  }
  expect(scene.authority.valid.size).toBe(1)
})

it('explains what it cannot log in to', async () => {
  const { run, written } = await commands()
  expect(await once(run('login', 'two'), 'exit')).toEqual([2, null])
  expect(written()).toContain('no server two')
})
