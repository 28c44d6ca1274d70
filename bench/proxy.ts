import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { parseArgs } from 'node:util'
import { startServer } from './http/processes.ts'
import { machine, median } from './machine.ts'
import { markdownTable } from './markdown-table.ts'
import { writeSection } from './write-section.ts'

/**
 * npm run bench:proxy [-- --json --write --rounds N]
 *
 * What plain forwarding adds to a call: to the whole answer, and to the first byte of a streamed one. Direct calls, bodies
 * forwarded as they come, and bodies read first take turns, one request at a time, over kept connections.
 */
const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '500' },
  },
})
const rounds = Number(values.rounds)
const WARM_UP = 50
const BODY_BYTES = [4_000, 100_000, 750_000]
const WAYS = ['direct', 'stream', 'whole'] as const
type Way = (typeof WAYS)[number]
const NAMES = { stream: 'as it comes', whole: 'read first' } as const
const TARGET_MS = { answer: 1.5, 'first streamed byte': 2 } as const

const agent = new Agent({ keepAlive: true })

/** Milliseconds from the call to the first byte of the answer's body, and to its end. */
async function call(url: string, body: Buffer): Promise<{ first: number; end: number }> {
  const started = performance.now()
  const outgoing = request(url, {
    method: 'POST',
    agent,
    headers: { 'content-length': body.length },
  })
  outgoing.end(body)
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage]
  if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}`)
  let first = 0
  answer.on('data', () => {
    if (first === 0) first = performance.now() - started
  })
  await once(answer, 'end')
  return { first, end: performance.now() - started }
}

function percentile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}

const upstream = await startServer('../proxy/upstream-server.ts')
const direct = `http://127.0.0.1:${upstream.port}`
const front = await startServer('../proxy/front-server.ts', { UPSTREAM_URL: direct })
const proxied = `http://127.0.0.1:${front.port}`
const origins: Record<Way, string> = {
  direct,
  stream: `${proxied}/stream`,
  whole: `${proxied}/whole`,
}

/** Times of each way, the n-th of each measured one behind the other. */
async function measured(
  what: keyof typeof TARGET_MS,
  bytes: number,
): Promise<Record<Way, number[]>> {
  const body = Buffer.alloc(bytes, 'x')
  const times: Record<Way, number[]> = { direct: [], stream: [], whole: [] }
  for (let round = -WARM_UP; round < rounds; round++) {
    for (let turn = 0; turn < WAYS.length; turn++) {
      const way = WAYS[(turn + round + WARM_UP) % WAYS.length] as Way
      const streamed = what === 'first streamed byte'
      const { first, end } = await call(`${origins[way]}/${streamed ? 'events' : 'json'}`, body)
      if (round >= 0) times[way].push(streamed ? first : end)
    }
  }
  return times
}

const results = []
for (const what of ['answer', 'first streamed byte'] as const) {
  for (const bytes of BODY_BYTES) {
    const times = await measured(what, bytes)
    for (const way of ['stream', 'whole'] as const) {
      results.push({
        what,
        bytes,
        way: NAMES[way],
        direct_p50_ms: percentile(times.direct, 0.5),
        direct_p99_ms: percentile(times.direct, 0.99),
        p50_ms: percentile(times[way], 0.5),
        p99_ms: percentile(times[way], 0.99),
        added_ms: median(times[way].map((ms, at) => ms - (times.direct[at] ?? 0))),
        target_ms: TARGET_MS[what],
      })
    }
  }
}
await front.stop()
await upstream.stop()
agent.destroy()

const ms = (number: number) => number.toFixed(2)
const rows = results.map(row => [
  row.what,
  `${row.bytes / 1000} KB`,
  row.way,
  ...[row.direct_p50_ms, row.direct_p99_ms, row.p50_ms, row.p99_ms, row.added_ms].map(ms),
  ms(row.p50_ms / row.direct_p50_ms),
  `≤ ${row.target_ms}`,
])
const header = [
  'time to',
  'body',
  'body is sent',
  'direct p50',
  'p99',
  'forwarded p50',
  'p99',
  'added',
  'ratio',
  'target',
]
const report = `${markdownTable(header, rows)}\n\nMilliseconds, ${rounds} calls of each kind; ${JSON.stringify(machine())}`
if (values.json)
  process.stdout.write(`${JSON.stringify({ machine: machine(), rounds, results })}\n`)
else process.stdout.write(`${report}\n`)
if (values.write) writeSection('proxy', report)
