import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { selfSigned } from '../../integration/proxy/self-signed.ts'
import { json, legacyServer, result, startHttpUpstream } from '../../support/mcp/http-upstream.ts'
import { RecordingUpstream } from '../../support/mcp/recording-upstream.ts'
import { startSseServer } from '../../support/mcp/sse-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-mcp-check-'))
const CLI = new URL('../../../src/cli.ts', import.meta.url).pathname

let upstream: RecordingUpstream
beforeAll(async () => {
  upstream = await RecordingUpstream.start({ era: 'legacy' })
  const [read, twice] = ['reader', 'twice'].map(name => ({
    name,
    inputSchema: { type: 'object' },
    annotations: { readOnlyHint: true, openWorldHint: false },
  }))
  upstream.on('tools/list', exchange =>
    exchange.result(JSON.stringify({ tools: [read, twice, twice] })),
  )
})
afterAll(async () => {
  await upstream.close()
  rmSync(folder, { recursive: true })
})

const run = (...args: string[]) => runCli('mcp', ...args)
const runCli = (...args: string[]) => runCliWith({}, ...args)

async function runCliWith(env: NodeJS.ProcessEnv, ...args: string[]) {
  const command = [CLI, ...args, '--data-dir', join(folder, 'data')]
  try {
    const options = { env: { ...process.env, ...env } }
    const done = await promisify(execFile)(process.execPath, command, options)
    return { code: 0, ...done }
  } catch (error) {
    return error as { code: number; stdout: string; stderr: string }
  }
}

function configured(servers: string): string {
  const file = join(folder, 'haversack.toml')
  writeFileSync(file, servers)
  return file
}

/** A file that is no program. */
const noProgram = () => join(folder, 'haversack.toml')

it('reports each server, and fails if one does', async () => {
  const good = `url = "${upstream.url}"\nauth = { kind = "headers", headers = { X-A = "s3cret" } }\n`
  const bad = `command = "${process.execPath}"\nargs = ["-e", "console.error('no licence'); process.exit(3)"]\n`
  const config = configured(
    `[mcp.servers.good]\n${good}trusted = true\n[mcp.servers.other]\n${good}[mcp.servers.bad]\n${bad}`,
  )
  const { code, stdout } = await run('check', '--json', '--config', config)
  expect(code).toBe(1)
  expect(stdout).not.toContain('s3cret')
  const { servers } = JSON.parse(stdout)
  const [first, other, third] = servers
  expect(first).toMatchObject({ server: 'good', failure: null, era: 'legacy', auth: 'headers' })
  expect(first.tools[0]).toMatchObject({ tool: 'reader', speculation: 'yes' })
  expect(first.definition_tokens).toBeGreaterThan(20)
  expect(first.doubled).toEqual(['twice'])
  expect(other.tools[0]).toMatchObject({
    speculation: 'no',
    because: expect.stringContaining('trusted'),
  })
  expect(third).toMatchObject({ server: 'bad', last_errors: expect.stringContaining('no licence') })
  const shown = await run('check', '--config', config)
  expect(shown.stdout).toContain('no licence')
  const fine = await run('check', '--config', configured(`[mcp.servers.good]\n${good}`))
  expect(fine.code).toBe(0)
}, 60_000)

/** Ends only a while after it was asked to. */
const SLOW_TO_END = `
process.on('SIGTERM', () => setTimeout(process.exit, 300))
setInterval(() => {}, 1000)
const tools = [{ name: 'add', description: 'Adds.  \\n\\nArgs:\\n  a: A number', inputSchema: {
  type: 'object', properties: { a: { type: 'integer' } } } }]
require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line)
  const result = method === 'initialize'
    ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} },
        serverInfo: { name: 's', version: '1' } }
    : method === 'tools/list' ? { tools } : undefined
  if (id !== undefined) {
    const rest = result ? { result } : { error: { code: -32601, message: 'unknown' } }
    console.log(JSON.stringify({ jsonrpc: '2.0', id, ...rest }))
  }
})`

it('audits the definitions of servers', async () => {
  const args = JSON.stringify(['-e', SLOW_TO_END])
  const config = configured(`[mcp.servers.s]\ncommand = "${process.execPath}"\nargs = ${args}\n`)
  const { code, stdout } = await runCli('audit', 'tools', '--json', '--config', config)
  expect(code).toBe(0)
  const report = JSON.parse(stdout)
  expect(report.tools[0]).toMatchObject({ server: 's', tool: 'add', description_tokens: 10 })
}, 60_000)

it('says why a server cannot be used', async () => {
  const page = await startHttpUpstream(response => response.writeHead(405).end())
  onTestFinished(() => page.close())
  const old = await startSseServer(() => {})
  onTestFinished(() => old.close())
  const missing = join(folder, 'no-such-program')
  const config = configured(
    `[mcp.servers.missing]\ncommand = "${missing}"\n` +
      `[mcp.servers.homeless]\ncommand = "${process.execPath}"\ncwd = "${missing}"\n` +
      `[mcp.servers.data]\ncommand = "${noProgram()}"\n` +
      `[mcp.servers.page]\nurl = "${page.url}"\n[mcp.servers.old]\nurl = "${old.url}"\n`,
  )
  const { stdout } = await run('check', '--json', '--config', config)
  const { servers } = JSON.parse(stdout) as { servers: { server: string; failure: string }[] }
  expect(Object.fromEntries(servers.map(({ server, failure }) => [server, failure]))).toEqual({
    missing: `its program ${missing} is not found`,
    homeless: `its folder ${missing} is not there`,
    data: `its program ${noProgram()} may not be run`,
    page: 'it answers with no MCP: HTTP 405 without an answer',
    old: null,
  })
}, 60_000)

it('serves no servers only with a word about it', async () => {
  const served = execFile(process.execPath, [CLI, 'mcp', '--config', configured('')])
  served.stdin?.end()
  let said = ''
  served.stderr?.on('data', text => {
    said += text
  })
  await new Promise(resolve => served.on('exit', resolve))
  expect(said).toContain('this gateway has no servers: no [mcp.servers] (')
}, 30_000)

it('takes reports of compactions', async () => {
  expect(await run('compacted', 'mine')).toMatchObject({ code: 0 })
  expect(readdirSync(join(folder, 'data', 'mcp-contexts'))).toHaveLength(1)
  expect(await run('compacted', '--service', 'http://127.0.0.1:1')).toMatchObject({ code: 2 })
}, 30_000)

it('trusts an authority that NODE_EXTRA_CA_CERTS names, and says what is wrong without it', async () => {
  const tls = selfSigned()
  const answer = legacyServer((response, { id }) => json(response, result(id, '{"tools":[]}')))
  const secure = await startHttpUpstream(answer, 0, tls)
  onTestFinished(() => secure.close())
  const ca = join(folder, 'ca.pem')
  writeFileSync(ca, tls.cert)
  const config = configured(`[mcp.servers.secure]\nurl = "${secure.url}"\n`)
  const check = ['mcp', 'check', '--json', '--config', config]
  const untrusted = await runCliWith({ NODE_EXTRA_CA_CERTS: '' }, ...check)
  expect(untrusted.code).toBe(1)
  expect(untrusted.stdout).toContain('self-signed certificate')
  const trusted = await runCliWith({ NODE_EXTRA_CA_CERTS: ca }, ...check)
  expect(JSON.parse(trusted.stdout).servers[0]).toMatchObject({ failure: null, era: 'legacy' })
  expect(trusted.code).toBe(0)
})
