import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { telemetryFolder } from '../../../../src/book/events/layout.ts'
import { OPERATIONS } from '../../../../src/core/operations/registry.ts'
import { recordingUpstream } from '../../../integration/service/recording-upstream.ts'
import { keyFor, writeKeysFile } from '../../../support/keys.ts'
import { killProcesses, startProcess } from '../../../support/service-process.ts'
import {
  eventsIn,
  filesIn,
  summariesIn,
  temporaryFolder,
  textIn,
} from '../../../unit/book/events/writer.ts'

afterAll(killProcesses)

/** Words that are in no table, each planted once. */
const planted: string[] = []
function secret(): string {
  const word = `Zq${planted.length}x${randomBytes(6).toString('hex')}`
  planted.push(word)
  return word
}

const path = () => `/home/${secret()}/${secret()}.ts`
const rows = () =>
  JSON.stringify(Array.from({ length: 12 }, (_, id) => ({ id, [secret()]: secret() })))
const shell = () =>
  `${secret()}=${secret()} ${secret()} ${secret()} && git log ${secret()} | ${secret()}`

/** What is said of a call, a secret in every field. */
const callOf = (tool: string, args: unknown) => ({
  session: secret(),
  tool,
  args,
  tool_call_id: secret(),
  file_path: path(),
})

/** Requests by operation, which together have every field of its schema. */
function requestsOf(format: string): Record<string, readonly object[]> {
  const { session, ...call } = callOf('Read', { file_path: path() })
  const text = rows()
  const encodes = [
    {
      ...callOf(`mcp__${secret()}__get_${secret()}_issues`, { [secret()]: secret() }),
      content: rows(),
      query: secret(),
      pagination: { total: 9, returned: 3, offset: 0, next: secret() },
      sort: { by: secret(), order: secret(), available: [secret()] },
      is_sidechain: true,
    },
    {
      ...callOf(secret(), secret()),
      content: secret().repeat(30),
      model: secret(),
      is_error: true,
    },
    { ...callOf('Bash', { command: shell() }), content: rows(), mode: 'elide' },
    { ...callOf('shell', { command: ['bash', '-lc', shell()] }), content: secret() },
    {
      ...callOf('Bash', { command: secret() }),
      content: rows(),
      mode: 'trim',
      budget_tokens: 60,
      strategy: 'default',
      level: 'full',
      chunk: 1,
    },
    { content: rows(), mode: 'trim', budget_tokens: 60, offset: 0, limit: 3, tool: secret() },
    { content: rows(), response_budget: 'compact', context_tokens: 90_000, tool: secret() },
    { content: rows(), response_budget: secret() },
    { content: rows(), mode: 'elide', min_saved_tokens: 1, reading: 'plain', tool: secret() },
    { content: rows(), reading: secret() },
    // The same again: references, and a retry.
    { ...call, session, content: text },
    { ...call, session, content: text },
    { ...call, tool_call_id: secret(), session, content: text, tokenizer: 'cl100k_base' },
    // Failures.
    { content: secret(), tokenizer: secret() },
    { content: secret(), formats: [secret()] },
    { content: secret(), budget_tokens: 0 },
    { content: secret(), [secret()]: secret() },
    { input_ref: secret(), tool: secret() },
    { content: 7, session: secret(), tool: secret() },
  ]
  const dedup = { ...callOf(secret(), { [secret()]: secret() }), content: rows() }
  const messages = [
    { role: 'system', content: secret() },
    { role: 'user', content: secret(), [secret()]: secret() },
    {
      role: 'assistant',
      tool_calls: [
        {
          id: 'c1',
          function: { name: secret(), arguments: JSON.stringify({ [secret()]: secret() }) },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: rows() },
    { role: 'tool', tool_call_id: secret(), name: secret(), content: rows() },
  ]
  const knapsack = {
    classes: [{ id: secret(), required: true, options: [{ id: secret(), cost: 1, value: 1 }] }],
    budget: 3,
    time_limit_ms: 10,
  }
  return {
    encode: encodes,
    dedup: [
      { ...dedup, is_error: false, is_sidechain: false, tokenizer: 'o200k_base' },
      { ...dedup, tool_call_id: secret() },
      { ...dedup, model: secret(), is_sidechain: true, tool_call_id: secret() },
      { ...dedup, session: '' },
      { ...dedup, content: undefined, input_ref: secret() },
    ],
    decode: [
      { content: text, format: 'passthrough', session: secret() },
      { content: secret(), format: secret() },
      { content: secret(), format },
    ],
    join_session: [{ session: secret() }],
    show_result: [
      { content: rows(), sent: { content: secret(), format, earlier: { [secret()]: secret() } } },
      { content: rows(), tool: secret(), model: secret(), mode: 'elide', budget_tokens: 9_999 },
    ],
    count: [
      { content: secret(), model: secret() },
      { contents: [secret()], tokenizer: secret() },
      { input_ref: secret() },
    ],
    compress: [
      { messages, model: secret(), [secret()]: secret() },
      { messages, response_budget: 'compact', reading: 'dense' },
      {
        messages,
        token_budget: 40,
        tokenizer: 'o200k_base',
        config: { compress_user_messages: true, [secret()]: secret() },
      },
    ],
    inputs: [{ content: rows() }],
    knapsack: [knapsack, { ...knapsack, budget: secret() }],
    plan: [
      {
        session: secret(),
        recent: [
          { tool: 'Grep', args: { pattern: secret() }, result: `${path()}:3:${secret()}` },
          { tool: secret(), args: { [secret()]: secret() }, result: rows() },
        ],
        budget_tokens: 100,
        intent: secret(),
      },
      { recent: secret(), [secret()]: secret() },
    ],
    batch: [
      {
        jobs: [
          { op: 'encode', ...callOf(secret(), { [secret()]: secret() }), content: rows() },
          { op: 'dedup', ...dedup, tool_call_id: secret() },
          { op: secret(), [secret()]: secret() },
          { op: 'decode', content: secret(), format: secret() },
        ],
      },
    ],
  }
}

/** A request to Anthropic with results of two calls. */
function anthropicBody() {
  const use = (id: string, name: string) => ({
    type: 'tool_use',
    id,
    name,
    input: { a: secret(), path: path() },
  })
  const result = (tool_use_id: string) => ({ type: 'tool_result', tool_use_id, content: rows() })
  const ids = [secret(), secret()] as const
  return {
    model: `claude-${secret()}`,
    system: secret(),
    metadata: { user_id: secret() },
    tools: [{ name: secret(), description: secret(), input_schema: { [secret()]: secret() } }],
    messages: [
      { role: 'user', content: secret() },
      { role: 'assistant', content: [use(ids[0], secret()), use(ids[1], `mcp__${secret()}__x`)] },
      { role: 'user', content: ids.map(result) },
    ],
  }
}

/** The same of OpenAI's shape. */
function openAiBody() {
  const id = secret()
  return {
    model: secret(),
    user: secret(),
    messages: [
      { role: 'user', content: secret() },
      {
        role: 'assistant',
        tool_calls: [
          { id, function: { name: 'Bash', arguments: JSON.stringify({ command: shell() }) } },
        ],
      },
      { role: 'tool', tool_call_id: id, content: rows() },
    ],
  }
}

function setUp(upstream: string) {
  const folder = temporaryFolder()
  const data = join(folder, 'data')
  mkdirSync(data, { mode: 0o700 })
  const config = join(folder, 'config.toml')
  const tenant = secret()
  const caller = keyFor(tenant, {
    scopes: ['encode', 'retrieve', 'proxy', 'metrics', 'ui', 'admin'],
    redeems: true,
  })
  writeKeysFile(join(folder, 'keys.json'), caller)
  writeFileSync(
    config,
    [
      `keys_file = "${join(folder, 'keys.json')}"`,
      '[log]\nlevel = "debug"',
      '[limits]\ndrain_grace_ms = 0',
      `[proxy]\nanthropic_url = "${upstream}"\nopenai_url = "${upstream}"`,
      '[ui]\nkeep_texts = "on"',
      '[telemetry]\nsample_rate = 1\nflush_every_n = 2',
    ].join('\n'),
  )
  return { data, caller, tenant, env: { HAVERSACK_CONFIG: config, HAVERSACK_DATA_DIR: data } }
}

/** Sends a form of the page, and looks at all that the page shows. */
async function tryOnPage(url: string, key: string, fields: object): Promise<void> {
  const post = (path: string, form: object, cookie = '') =>
    fetch(url + path, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: url, cookie },
      body: new URLSearchParams(Object.entries(form).map(([name, value]) => [name, String(value)])),
    })
  const entered = await post('/ui/login', { key })
  const cookie = entered.headers.get('set-cookie')!.split(';')[0]!
  expect(await (await post('/ui/try', fields, cookie)).text()).toContain('Before')
  for (const page of ['/ui', '/ui/tools', '/ui/conversations', '/ui/results/1', '/ui/service']) {
    const answer = await fetch(url + page, { headers: { cookie } })
    expect([page, answer.status]).toEqual([page, 200])
    await answer.arrayBuffer()
  }
}

describe('telemetry', () => {
  it('has nothing that a client sent, nor have logs and what is exposed', async () => {
    const upstream = await recordingUpstream()
    const { data, caller, tenant, env } = setUp(upstream.url)
    const service = await startProcess({ env })
    const requests = requestsOf('csv@1')
    const statuses = new Set<number>()
    const post = async (route: string, body: string, headers: Record<string, string> = {}) => {
      const answer = await fetch(service.url + route, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...caller.headers, ...headers },
      })
      statuses.add(answer.status)
      await answer.arrayBuffer()
    }

    for (const [name, operation] of Object.entries(OPERATIONS)) {
      const own = requests[name] ?? []
      const { shape } = operation.request as z.ZodObject
      const fields = new Set(own.flatMap(request => Object.keys(request)))
      expect(
        [...Object.keys(shape)].filter(field => !fields.has(field)),
        name,
      ).toEqual([])
      for (const body of own)
        await post(`/v1/${name}?${secret()}=${secret()}`, JSON.stringify(body))
      await post(`/v1/${name}`, `{"content": "${secret()}`)
    }
    await tryOnPage(service.url, caller.key, requests['show_result']![0]!)
    await post(`/v1/sessions/${secret()}/compaction`, '{}')
    await post(
      `/v1/sessions/${secret()}/invalidate`,
      JSON.stringify({ file_paths: [path()], tools: [secret()] }),
    )
    await post(`/${secret()}`, secret(), { 'x-request-id': 'plain', cookie: secret() })
    const vendor = { 'x-haversack-key': caller.key, 'x-api-key': secret(), authorization: secret() }
    const conversation = JSON.stringify(anthropicBody())
    for (const body of [conversation, conversation, `{"${secret()}`]) {
      await post('/anthropic/v1/messages', body, vendor)
    }
    await post('/openai/v1/chat/completions', JSON.stringify(openAiBody()), vendor)
    expect([...statuses].sort()).toEqual(expect.arrayContaining([200, 400, 404, 422]))

    const { paths } = (await (
      await fetch(`${service.url}/openapi.json`, { headers: caller.headers })
    ).json()) as { paths: Record<string, object> }
    // The figures of all ways in name the tools and models of the tenant that asks.
    const open = Object.keys(paths).filter(
      each => 'get' in paths[each]! && !each.includes('{') && each !== '/v1/gain',
    )
    expect(open).toEqual(expect.arrayContaining(['/metrics', '/v1/savings']))
    const exposed = await Promise.all(
      [...open, '/openapi.json', '/'].map(async each => {
        const answer = await fetch(service.url + each, { headers: caller.headers })
        return `${each}\n${[...answer.headers].join('\n')}\n${await answer.text()}`
      }),
    )
    service.child.kill('SIGTERM')
    expect(await service.exited).toBe(0)
    await upstream.close()

    const events = await eventsIn(telemetryFolder(data))
    // 8 of encode, 3 of dedup, 2 of compress, 2 of batch and 3 of the proxies; retries and a turn
    // that comes again tell nothing new.
    expect(events).toHaveLength(20)
    expect(await summariesIn(telemetryFolder(data))).not.toEqual([])
    expect(new Set(events.map(({ layer_used }) => layer_used))).toEqual(new Set(['L0', 'L2', 'L3']))
    const kept = filesIn(data).filter(({ name }) => name.startsWith('store'))
    expect(kept).not.toEqual([])
    const files = filesIn(data).filter(file => !kept.includes(file))
    const names = files.map(file => file.path).join('\n')
    const told = names + textIn(telemetryFolder(data))
    const elsewhere = exposed.join('\n') + service.stderr()
    expect(planted.length).toBeGreaterThan(200)
    const found = planted.filter(
      word =>
        told.toLowerCase().includes(word.toLowerCase()) ||
        // The log says whose key it was.
        (word !== tenant && elsewhere.toLowerCase().includes(word.toLowerCase())),
    )
    expect(found).toEqual([])
    // Nor can an id be guessed.
    const digests = new Set(
      planted.map(word => createHash('sha256').update(word).digest('hex').slice(0, 8)),
    )
    const hashes = events.flatMap(event => [
      event.session_hash.slice(0, 8),
      event.tool_call_id_hash ?? '',
      event.file_path_hash ?? '',
      event.content_sha_prefix.slice(0, 8),
    ])
    expect(hashes.filter(hash => digests.has(hash))).toEqual([])
  })
})
