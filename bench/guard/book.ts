import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { RawHttpClient } from '../../test/support/mcp/http-client.ts'
import { type ServiceProcess, startProcess } from '../../test/support/service-process.ts'

/** Settings with all that keeps a book of results. */
const settings = (url: string) => `
[limits]
drain_grace_ms = 0
[proxy]
rewrite_timeout_ms = 600000
[telemetry]
sample_rate = 1
[enrichment]
enabled = true
[mcp.servers.rows]
url = "${url}/mcp"
[ui]
keep_texts = "on"
`
const PIPELINE = `
[elision]
in_proxies = true
`

const ROWS = JSON.stringify(Array.from({ length: 60 }, (_, id) => ({ id, name: `row ${id}` })))
const LOG = Array.from({ length: 400 }, (_, n) => `2026-01-01 line ${n} of some log`).join('\n')
const REMINDER = `${LOG}\n<system-reminder>Keep it short.</system-reminder>`
const TABLE = `| a | b |\n|---|---|\n${'| 1 | 2 |\n'.repeat(40)}`
const CALL = { session: 's', tool: 'Read', tool_call_id: 'one', args: { file_path: '/a/b.ts' } }

const ENCODED = [
  { content: ROWS, ...CALL },
  { content: ROWS, ...CALL },
  { content: ROWS, ...CALL, tool_call_id: 'two' },
  { content: LOG, session: 's', tool: 'Bash', args: { command: 'git log --oneline' } },
  { content: TABLE, tool: 'mcp__secret_server__list_pulls', is_sidechain: true, model: 'gpt-5' },
  { content: REMINDER, mode: 'trim', budget_tokens: 300, session: 't' },
  { content: '\ud800 lone' },
  { content: ROWS, mode: 'elide', budget_tokens: 200, session: 't', tool: 'x'.repeat(200) },
]

const RESULTS = [
  ['Read', { file_path: '/a.ts' }, ROWS],
  ['Bash', { command: 'grep -rn x src' }, LOG],
  ['mcp__secret_server__find', {}, ROWS],
  ['Read', { file_path: '/c.ts' }, REMINDER],
] as const

function turns(end: number): readonly unknown[] {
  return RESULTS.slice(0, end).flatMap(([name, input, content], n) => [
    { role: 'assistant', content: [{ type: 'tool_use', id: `c${n}`, name, input }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: `c${n}`, content }] },
  ])
}

const CHAT = [
  { role: 'user', content: 'go' },
  { role: 'assistant', tool_calls: [{ id: '1', function: { name: 'Read', arguments: '{}' } }] },
  { role: 'tool', tool_call_id: '1', content: ROWS },
]

/** What a server of tools answers to each method. */
const ANSWERS: Readonly<Record<string, (params: { readonly name?: string }) => object>> = {
  initialize: () => ({
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'rows', version: '1' },
  }),
  'tools/list': () => ({
    tools: ['list', 'log'].map(name => ({
      name,
      description: `gives ${name}`,
      inputSchema: { type: 'object' },
      annotations: { readOnlyHint: true },
    })),
  }),
  'tools/call': ({ name }) => ({
    content: [{ type: 'text', text: name === 'list' ? ROWS : LOG }],
  }),
}

/** The answer of the server of tools; `null` to a notification, or a request without a body. */
function toolsAnswer(body: string): string | null {
  if (body === '') return null
  const { id, method, params } = JSON.parse(body)
  if (id === undefined) return null
  const result = ANSWERS[method]?.(params)
  const error = { code: -32601, message: 'no such method' }
  return JSON.stringify({ jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) })
}

/** Answers each model request with the same bill, and calls of two tools. */
async function startUpstream() {
  const usage = { input_tokens: 900, cache_read_input_tokens: 300, output_tokens: 40 }
  const model = 'claude-sonnet-4-5'
  const answer = { id: 'm', type: 'message', role: 'assistant', model, content: [], usage }
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const said = request.url === '/mcp' ? toolsAnswer(body) : JSON.stringify(answer)
    response.setHeader('content-type', 'application/json')
    response.writeHead(body === '' ? 405 : said === null ? 202 : 200).end(said ?? '')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** Calls both tools, twice, so that their results come again. */
async function callTools(url: string): Promise<void> {
  const client = new RawHttpClient(`${url}/mcp`)
  await client.initialize()
  for (const name of ['list', 'log', 'list', 'log']) {
    const answer = await client.call('tools/call', { name, arguments: {} })
    if (answer.error !== undefined) throw new Error(JSON.stringify(answer))
  }
  await client.delete()
}

/** Each page that shows figures, with its name. */
async function* shownPages({ url }: ServiceProcess): AsyncGenerator<readonly [string, string]> {
  const read = async (path: string) => {
    const response = await fetch(url + path, { headers: { accept: 'text/html' } })
    const page = await response.text()
    if (!response.ok) throw new Error(`${path}: ${page}`)
    return page.replaceAll(url, 'service').replaceAll(OF_A_START, '')
  }
  yield ['overview', await read('/ui')]
  yield ['tools', await read('/ui/tools')]
  const list = await read('/ui/conversations')
  yield ['conversations', list]
  const ids = [...new Set(list.match(/(?<=\/ui\/conversations\/)[\da-f]{16}/g))].sort()
  if (ids.length < 2) throw new Error('too few conversations')
  const each = ids.map(id => read(`/ui/conversations/${id}`))
  yield ['conversation', (await Promise.all(each)).join('\n')]
  const results = Array.from({ length: RESULTS_SHOWN }, (_, n) => read(`/ui/results/${n + 1}`))
  yield ['result', (await Promise.all(results)).join('\n')]
}

const RESULTS_SHOWN = 16
/** What a page says of the process that made it. */
const OF_A_START = /nonce="[^"]*"|(?<=\?v=)[\w-]+/g

/**
 * What a service writes down of fixed traffic, at one fixed time: lines of telemetry under a fixed
 * secret, rows of the ledger, pages, accounts, and counts.
 */
export async function* writtenBooks(): AsyncGenerator<readonly [string, string]> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-book-'))
  const { server, url } = await startUpstream()
  try {
    writeFileSync(join(folder, 'haversack.toml'), settings(url))
    writeFileSync(join(folder, 'pipeline.toml'), PIPELINE)
    const key = Buffer.alloc(32, 7)
    writeFileSync(join(folder, 'telemetry.key'), key, { mode: 0o600 })
    const service = await startProcess({
      execArgv: ['--import', FIXED_CLOCK],
      env: {
        HAVERSACK_CONFIG: join(folder, 'haversack.toml'),
        HAVERSACK_PIPELINE_CONFIG: join(folder, 'pipeline.toml'),
        HAVERSACK_DATA_DIR: folder,
        HAVERSACK_ANTHROPIC_URL: url,
      },
    })
    const post = async (path: string, body: unknown) => {
      const init = { method: 'POST', body: JSON.stringify(body), headers: JSON_HEADERS }
      const response = await fetch(service.url + path, init)
      const text = await response.text()
      if (!response.ok) throw new Error(`${path}: ${text}`)
    }
    const read = async (path: string) => (await fetch(service.url + path)).text()
    for (const each of ENCODED) await post('/v1/encode', each)
    for (let n = 0; n < 2; n++) {
      await post('/v1/dedup', { content: LOG, session: 's', tool: 'Bash', args: { command: 'ls' } })
    }
    await post('/v1/compress', { messages: CHAT })
    await post('/v1/compress', { messages: [...CHAT, ...CHAT.slice(1)] })
    const tools = [{ name: 'haversack_retrieve', input_schema: { type: 'object' } }]
    for (let end = 1; end <= RESULTS.length; end++) {
      const messages = [{ role: 'user', content: 'go' }, ...turns(end)]
      const body = { model: 'claude-sonnet-4-5', max_tokens: 9, tools, messages }
      await post('/anthropic/v1/messages', body)
    }
    await callTools(service.url)
    const metrics = (await read('/metrics')).split('\n').filter(line => COUNTED.test(line))
    yield ['counts', sha256(metrics.sort().join('\n'))]
    for (const name of ['savings', 'arms']) {
      const text = await read(`/v1/${name}`)
      // Members of an object are in another order once they were written.
      yield [
        name,
        sha256(
          text
            .split(/(?=[,{}[\]])/)
            .sort()
            .join('\n'),
        ),
      ]
    }
    for await (const [name, page] of shownPages(service)) yield [`page-${name}`, sha256(page)]
    service.child.kill('SIGTERM')
    await service.exited
    yield ['telemetry', sha256(telemetryLines(folder).join('\n'))]
    yield* ledgerTables(folder)
  } finally {
    server.close()
    rmSync(folder, { recursive: true })
  }
}

const JSON_HEADERS = { 'content-type': 'application/json' }
/** Counts, without those of times, sizes and processes. */
const COUNTED = /^haversack_(results|tokens|gate|look|host|view|arms|ledger|mcp_tokens|proxy|cache)/
const FIXED_CLOCK = fileURLToPath(new URL('fixed-clock.ts', import.meta.url))

/** All events. */
function telemetryLines(folder: string): readonly string[] {
  const files = readdirSync(join(folder, 'telemetry'), { recursive: true, encoding: 'utf8' })
  return files
    .filter(file => file.endsWith('.jsonl') && file.includes('events'))
    .flatMap(file => readFileSync(join(folder, 'telemetry', file), 'utf8').split('\n'))
    .sort()
}

function* ledgerTables(folder: string): Generator<readonly [string, string]> {
  const [file = ''] = readdirSync(folder).filter(name => /^ledger.*\.(db|sqlite)$/.test(name))
  const database = new DatabaseSync(join(folder, file), { readOnly: true })
  for (const table of ['result', 'turn', 'result_hour', 'turn_hour', 'conversation', 'day']) {
    const rows = database.prepare(`SELECT * FROM ${table}`).all()
    // Kinds of days are numbered as they come.
    const texts = rows.map(({ kind: _, ...row }) => JSON.stringify(row))
    if (texts.length === 0) throw new Error(`the ledger has nothing in ${table}`)
    yield [`ledger-${table}`, sha256(texts.sort().join('\n'))]
  }
  database.close()
}

function sha256(text: string): string {
  if (process.env['GUARD_TEXTS'] === 'on') process.stderr.write(`${text}\n\n`)
  return createHash('sha256').update(text).digest('hex')
}
