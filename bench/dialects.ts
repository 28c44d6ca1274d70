import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RouteName } from '../src/core/conversation/parse/scan-request.ts'
import { growingConversation, stepsFor } from './proxy/growing-conversations.ts'
import { agent, timedCall } from './proxy/timed-call.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { cpuUsOf } from './support/process-time.ts'
import { type Server, startServer } from './support/processes.ts'
import { median } from './support/statistics.ts'
import { writeSection } from './support/write-section.ts'

/**
 * npm run bench -- dialects [CORPUS --rounds N --write]
 *
 * What the proxies add to a call of each API: conversations of 100 KB that bring their whole
 * history and one new result a turn, sent directly and through the service. The APIs take turns,
 * conversation by conversation, so that all see the same machine. Recorded results with a corpus,
 * else made-up ones.
 */
const options = readOptions({ corpus: '', rounds: 10, write: false })
const BYTES = 100_000

interface Dialect {
  readonly name: string
  readonly route: RouteName
  /** Where the service has it, and what comes then in both cases. */
  readonly at: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
}

const CLAUDE = '/v1/projects/p/locations/l/publishers/anthropic/models/claude-opus-4-1'
const CHAT = { name: 'OpenAI, chat completions', route: 'openai_chat' } as const
const CONVERSE = { route: 'bedrock_converse', path: '/model/claude-opus-4-1/converse' } as const
const SIGNED =
  'AWS4-HMAC-SHA256 Credential=AKID/20261124/us-east-1/bedrock/aws4_request, ' +
  'SignedHeaders=host;x-amz-date, Signature=0'

const DIALECTS: readonly Dialect[] = [
  { name: 'Anthropic', route: 'anthropic_messages', at: '/anthropic', path: '/v1/messages' },
  { ...CHAT, at: '/openai', path: '/v1/chat/completions' },
  { name: 'OpenAI, responses', route: 'openai_responses', at: '/openai', path: '/v1/responses' },
  {
    ...{ name: 'Azure', route: 'openai_chat', at: '/up/azure' },
    path: '/openai/deployments/d/chat/completions?api-version=2025-04-01',
  },
  {
    ...{ name: 'Gemini', route: 'gemini_generate', at: '/up/gemini' },
    path: '/v1beta/models/gemini-2.5-pro:generateContent',
  },
  {
    ...{ name: 'Vertex AI, Claude', route: 'anthropic_messages', at: '/up/vertex' },
    path: `${CLAUDE}:rawPredict`,
  },
  { ...CONVERSE, name: 'Bedrock, with a token', at: '/up/bedrock' },
  {
    ...{ ...CONVERSE, name: 'Bedrock, signed again', at: '/up/signed' },
    headers: { authorization: SIGNED, 'x-amz-date': '20261124T000000Z' },
  },
]

function configFor(upstream: string): string {
  const named = ['azure', 'gemini', 'vertex', 'bedrock'].map(
    name => `[[proxy.upstreams]]\nname = "${name}"\nurl = "${upstream}"\ndialect = "${name}"\n`,
  )
  const signed = `[[proxy.upstreams]]
name = "signed"
url = "${upstream}"
dialect = "bedrock"
[proxy.upstreams.aws]
region = "us-east-1"
access_key_id = "AKID"
secret_access_key = "env:BENCH_AWS_SECRET"
`
  return [...named, signed].join('\n')
}

interface Measured {
  readonly direct: number[]
  readonly through: number[]
  /** Processor time of the service for each call, one figure a conversation, in microseconds. */
  readonly cpuUs: number[]
}

/** One conversation of a dialect; each turn directly and through the service. */
async function play(
  { route, at, path, headers = {} }: Dialect,
  service: Server,
  { upstream, n }: { readonly upstream: string; readonly n: number },
): Promise<Measured> {
  const conversation = growingConversation(steps, n, BYTES, route)
  const sent = { 'content-type': 'application/json', ...headers }
  const through = `http://127.0.0.1:${service.port}${at}${path}`
  await timedCall(through, conversation.first, sent)
  const measured: Measured = { direct: [], through: [], cpuUs: [] }
  const before = cpuUsOf([service])
  for (const [turn, body] of conversation.turns.entries()) {
    const urls = [`${upstream}${path}`, through] as const
    for (const way of turn % 2 === 0 ? [0, 1] : [1, 0]) {
      const { end } = await timedCall(urls[way as 0 | 1], body, sent)
      measured[way === 0 ? 'direct' : 'through'].push(end)
    }
  }
  measured.cpuUs.push((cpuUsOf([service]) - before) / conversation.turns.length)
  return measured
}

const steps = stepsFor(options.corpus || undefined)
const folder = mkdtempSync(join(tmpdir(), 'haversack-dialects-'))
const vendor = await startServer('proxy/upstream-server.ts')
const upstream = `http://127.0.0.1:${vendor.port}`
const config = join(folder, 'config.toml')
writeFileSync(config, configFor(upstream))
const service = await startServer('../src/main.ts', {
  ...{ HAVERSACK_PORT: '0', HAVERSACK_LOG_LEVEL: 'warn', HAVERSACK_CONFIG: config },
  ...{ HAVERSACK_ANTHROPIC_URL: upstream, HAVERSACK_OPENAI_URL: upstream },
  BENCH_AWS_SECRET: 'secret',
})
const all = new Map<Dialect, Measured>(
  DIALECTS.map(dialect => [dialect, { direct: [], through: [], cpuUs: [] }]),
)
// The first round warms up.
for (let round = -1; round < options.rounds; round++) {
  for (let turn = 0; turn < DIALECTS.length; turn++) {
    const dialect = DIALECTS[(turn + round + 1) % DIALECTS.length]!
    // Other conversations each time: what was sent before is remembered.
    const n = (round + 1) * DIALECTS.length + turn
    const { direct, through, cpuUs } = await play(dialect, service, { upstream, n })
    if (round < 0) continue
    const sum = all.get(dialect)!
    sum.direct.push(...direct)
    sum.through.push(...through)
    sum.cpuUs.push(...cpuUs)
  }
}
await service.stop()
await vendor.stop()
agent.destroy()
rmSync(folder, { recursive: true })

const rows = DIALECTS.map(dialect => {
  const { direct, through, cpuUs } = all.get(dialect)!
  const added = median(through.map((ms, at) => ms - direct[at]!))
  return { name: dialect.name, calls: direct.length, direct: median(direct), added, cpuUs }
})
const [anthropic] = rows
const table = markdownTable(
  ['API', 'calls', 'direct p50 ms', 'added p50 ms', '÷ Anthropic’s', 'processor ms', '÷'],
  rows.map(({ name, calls, direct, added, cpuUs }) => [
    ...[name, String(calls), direct.toFixed(2), added.toFixed(2)],
    (added / anthropic!.added).toFixed(2),
    (median(cpuUs) / 1_000).toFixed(2),
    (median(cpuUs) / median(anthropic!.cpuUs)).toFixed(2),
  ]),
)
const contents = options.corpus === '' ? 'made-up results' : 'recorded results'
const { date: _, ...described } = machine()
const conditions = `${contents}; load ${loadavg()[0]!.toFixed(1)}; ${JSON.stringify(described)}`
console.log(`${table}\n\n${conditions}`)
if (options.write) writeSection('dialects', `${table}\n\n${conditions}`)
