import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { json, legacyServer, result, startHttpUpstream } from '../test/support/mcp/http-upstream.ts'
import { markdownTable } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { startServer } from './support/processes.ts'
import { percentile } from './support/statistics.ts'

/**
 * npm run bench -- hostile [--calls N]
 *
 * A service between a client and an MCP server that floods: descriptors of the service, and the
 * calls of another client meanwhile; and for how long one message holds its main thread, in
 * processor time. Ends with 1 above a bound.
 */
const options = readOptions({ calls: 300 })

const [MOST_DESCRIPTORS, MOST_RATIO, MOST_HELD_MS] = [100, 3, 100]
const PINGS = Array.from(
  { length: 20_000 },
  (_, id) => `data: {"jsonrpc":"2.0","id":${id},"method":"ping"}\n\n`,
).join('')
const NAMES = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`name_${at}`, { at }]))
const LONG_LIST = JSON.stringify({
  content: Array.from({ length: 120_000 }, (_, at) => ({
    type: 'text',
    text: `text number ${at}`,
  })),
})

const folder = mkdtempSync(join(tmpdir(), 'haversack-hostile-'))
const held = join(folder, 'held')
writeFileSync(held, '')
const tools = ['flood', 'fine', 'long'].map(name => ({ name, inputSchema: { type: 'object' } }))
const upstream = await startHttpUpstream(
  legacyServer((response, { id, rpcMethod, body }) => {
    if (rpcMethod === 'tools/list') json(response, result(id, JSON.stringify({ tools })))
    else if (rpcMethod !== 'tools/call') json(response, result(id, '{}'))
    else if (body.includes('"flood"')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(PINGS)
    } else json(response, result(id, body.includes('"long"') ? LONG_LIST : '{"content":[]}'))
  }),
)
const config = join(folder, 'haversack.toml')
writeFileSync(
  config,
  `[mcp.search]\nmode = "never"\n[mcp.servers.one]\nurl = "${upstream.url}"\n` +
    `[mcp.servers.two]\nurl = "${upstream.url}"\n`,
)
const watch = new URL('hostile/watch-main-thread.ts', import.meta.url)
watch.searchParams.set('file', held)
const service = await startServer('../src/main.ts', {
  ...{ HAVERSACK_PORT: '0', HAVERSACK_LOG_LEVEL: 'silent', HAVERSACK_CONFIG: config },
  ...{ NODE_OPTIONS: `--import ${watch}` },
})

async function post(message: string, session = ''): Promise<Response> {
  const headers = {
    ...{ 'content-type': 'application/json', 'mcp-protocol-version': '2025-06-18' },
    accept: 'application/json, text/event-stream',
    ...(session && { 'mcp-session-id': session }),
  }
  const url = `http://127.0.0.1:${service.port}/mcp`
  const response = await fetch(url, { method: 'POST', headers, body: message })
  await response.arrayBuffer()
  return response
}

const request = (method: string, params: object) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
const hello = (capabilities: object) =>
  request('initialize', {
    ...{ protocolVersion: '2025-06-18', capabilities },
    clientInfo: { name: 'bench', version: '1' },
  })
const call = (name: string, args: object = {}) => request('tools/call', { name, arguments: args })

async function connect(): Promise<string> {
  const session = (await post(hello({}))).headers.get('mcp-session-id') ?? ''
  await post('{"jsonrpc":"2.0","method":"notifications/initialized"}', session)
  await post(request('tools/list', {}), session)
  return session
}

/** The longest turn of the main thread since the last time, in milliseconds. */
async function heldMs(): Promise<number> {
  const lines = () => readFileSync(held, 'utf8').trim().split('\n')
  const count = lines().length
  const before = readFileSync(held, 'utf8').length
  process.kill(service.pid, 'SIGUSR2')
  while (readFileSync(held, 'utf8').length === before) await wait(10)
  return Number(lines().at(Math.max(count - 1, -1) + (before > 0 ? 1 : 0)))
}

/** The 99th of 100 times of a call, in milliseconds. */
async function p99Of(session: string): Promise<number> {
  const times: number[] = []
  for (let at = 0; at < options.calls; at++) {
    const begun = performance.now()
    await post(call('two__fine'), session)
    times.push(performance.now() - begun)
  }
  return percentile(times, 0.99)
}

const descriptors = () => readdirSync(`/proc/${service.pid}/fd`).length

try {
  const [attacker, other] = [await connect(), await connect()]
  const quiet = [await p99Of(other), await p99Of(other)]
  const before = descriptors()
  let most = 0
  let isOver = false
  const flooding = (async () => {
    while (!isOver) {
      await post(call('one__flood'), attacker)
      most = Math.max(most, descriptors() - before)
    }
  })()
  const watching = setInterval(() => {
    most = Math.max(most, descriptors() - before)
  }, 5)
  const meanwhile = await p99Of(other)
  isOver = true
  await flooding
  clearInterval(watching)
  const ratio = meanwhile / Math.max(...quiet)

  const messages: readonly (readonly [string, string, string?])[] = [
    ['`initialize` with 300,000 names', hello({ extensions: NAMES(300_000) })],
    ['a call with 400,000 arguments', call('two__fine', NAMES(400_000)), other],
    ['an answer of 120,000 texts', call('two__long'), other],
  ]
  await heldMs()
  const rows: string[][] = []
  let longest = 0
  for (const [name, message, session] of messages) {
    await post(message, session)
    const ms = await heldMs()
    longest = Math.max(longest, ms)
    const bytes = name.startsWith('an answer') ? LONG_LIST.length : message.length
    rows.push([name, (bytes / 1e6).toFixed(1), ms.toFixed(1)])
  }
  process.stdout.write(
    `${markdownTable(
      ['flood of 20,000 pings a call', 'figure', 'bound'],
      [
        ['descriptors more', String(most), String(MOST_DESCRIPTORS)],
        ['p99 of another client, quiet, ms', quiet.map(ms => ms.toFixed(1)).join(', '), ''],
        ['the same meanwhile, ms', meanwhile.toFixed(1), `× ${MOST_RATIO}`],
      ],
    )}\n\n${markdownTable(['message', 'MB', `holds the main thread, ms (≤ ${MOST_HELD_MS})`], rows)}\n`,
  )
  if (most > MOST_DESCRIPTORS || ratio > MOST_RATIO || longest > MOST_HELD_MS) process.exitCode = 1
} finally {
  await service.stop()
  await upstream.close()
  rmSync(folder, { recursive: true, force: true })
}
