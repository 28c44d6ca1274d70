import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { startProcess } from '../../test/support/service-process.ts'

/** Settings with all that keeps a book of results. */
const SETTINGS = `
[limits]
drain_grace_ms = 0
[telemetry]
enabled = true
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

/** Answers each model request with the same bill. */
async function startVendor() {
  const usage = { input_tokens: 900, cache_read_input_tokens: 300, output_tokens: 40 }
  const model = 'claude-sonnet-4-5'
  const answer = { id: 'm', type: 'message', role: 'assistant', model, content: [], usage }
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/**
 * What a service writes down of fixed traffic: lines of telemetry under a fixed secret, rows of the
 * ledger, accounts, and counts. Times are left out.
 */
export async function* writtenBooks(): AsyncGenerator<readonly [string, string]> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-book-'))
  const { server, url } = await startVendor()
  try {
    writeFileSync(join(folder, 'haversack.toml'), SETTINGS)
    writeFileSync(join(folder, 'pipeline.toml'), PIPELINE)
    const key = Buffer.alloc(32, 7)
    writeFileSync(join(folder, 'telemetry.key'), key, { mode: 0o600 })
    const service = await startProcess({
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
    const metrics = (await read('/metrics')).split('\n').filter(line => COUNTED.test(line))
    yield ['counts', sha256(metrics.sort().join('\n'))]
    for (const name of ['savings', 'arms']) {
      const text = (await read(`/v1/${name}`)).replaceAll(TIMES, 'time')
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
const COUNTED = /^haversack_(results|tokens|gate|look|host|view|arms|ledger|proxy_(req|tok|res))/
const TIMES = /\d{4}-\d\d-\d\dT[\d:.]+Z|\b1[789]\d{11}\b/g

/** All events, without what is of a time. */
function telemetryLines(folder: string): readonly string[] {
  const files = readdirSync(join(folder, 'telemetry'), { recursive: true, encoding: 'utf8' })
  return files
    .filter(file => file.endsWith('.jsonl') && file.includes('events'))
    .flatMap(file => readFileSync(join(folder, 'telemetry', file), 'utf8').split('\n'))
    .map(line => line.replace(/"ts_ms":\d+/, '"ts_ms":0'))
    .sort()
}

/** Columns that hold a time, or a number that follows from it. */
const OF_TIME = new Set(['at', 'hour', 'day', 'first_at', 'last_at', 'id', 'kind'])

function* ledgerTables(folder: string): Generator<readonly [string, string]> {
  const [file = ''] = readdirSync(folder).filter(name => /^ledger.*\.(db|sqlite)$/.test(name))
  const database = new DatabaseSync(join(folder, file), { readOnly: true })
  for (const table of ['result', 'turn', 'result_hour', 'turn_hour', 'conversation', 'day']) {
    const rows = database.prepare(`SELECT * FROM ${table}`).all()
    const texts = rows.map(row =>
      JSON.stringify(Object.entries(row).filter(([name]) => !OF_TIME.has(name))),
    )
    if (texts.length === 0) throw new Error(`the ledger has nothing in ${table}`)
    yield [`ledger-${table}`, sha256(texts.sort().join('\n'))]
  }
  database.close()
}

function sha256(text: string): string {
  if (process.env['GUARD_TEXTS'] === 'on') process.stderr.write(`${text}\n\n`)
  return createHash('sha256').update(text).digest('hex')
}
