import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { WebSocket } from 'ws'
import { stepsFor } from './proxy/growing-conversations.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { startServer } from './support/processes.ts'
import { median, percentile } from './support/statistics.ts'
import { writeSection } from './support/write-section.ts'
import { type Step, turnBody } from './turns/bodies.ts'

/**
 * npm run bench -- websocket [CORPUS --rounds N --write]
 *
 * What reading and rewriting the messages of a WebSocket adds to a turn, beside the same bytes
 * through a tunnel and directly: time from a message to the first event of its answer, and
 * processor time of the service. Ways take turns. Messages have the new result alone, or the whole
 * conversation as after a lost connection.
 */
const options = readOptions({ corpus: '', rounds: 300, write: false })
const WAYS = ['direct', 'plain', 'rewritten'] as const
type Way = (typeof WAYS)[number]
const WARM_UP = 600
/** Steps of the whole conversations. */
const HISTORY = 40
const TERMS = { model: 'gpt-5', tools: ['Read', 'Bash'] }
/** Of one clock tick in `/proc`. */
const TICK_MS = 10

const steps = stepsFor(options.corpus || undefined)

/** The body of a request as a message. */
function messageOf(some: readonly Step[], before: number, isNew: boolean): string {
  const { bytes } = turnBody('openai_responses', some, { end: some.length, before }, TERMS)
  const body = JSON.parse(Buffer.from(bytes).toString()) as { input: readonly unknown[] }
  const rest = isNew
    ? { ...body, previous_response_id: 'resp_1', input: body.input.slice(-1) }
    : body
  return JSON.stringify({ type: 'response.create', ...rest })
}

const stepAt = (at: number) => steps[at % steps.length] as Step
const KINDS: Readonly<Record<string, (n: number) => string>> = {
  'nothing to rewrite': () => JSON.stringify({ type: 'response.steer', text: 'x'.repeat(100_000) }),
  'the new result alone': n => messageOf([stepAt(n)], 0, true),
  'the whole conversation': n => {
    const all = Array.from({ length: HISTORY + (n % 20) }, (_, at) =>
      stepAt(Math.floor(n / 20) * 211 + at),
    )
    return messageOf(all, all.length - 1, false)
  },
}

function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

async function connect(url: string, headers: Record<string, string> = {}): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`, {
    headers,
    perMessageDeflate: false,
  })
  await once(socket, 'open')
  return socket
}

/** Milliseconds from a message to the first of its two events. */
function turn(socket: WebSocket, message: string): Promise<number> {
  const started = performance.now()
  let first = 0
  const { promise, resolve } = Promise.withResolvers<number>()
  // Both may come in the same turn of the event loop.
  const onMessage = () => {
    if (first === 0) first = performance.now() - started
    else resolve(first)
  }
  socket.on('message', onMessage)
  socket.send(message)
  return promise.finally(() => void socket.off('message', onMessage))
}

const vendor = await startServer('websocket/upstream-server.ts')
const upstream = `http://127.0.0.1:${vendor.port}`
const service = await startServer('../src/main.ts', {
  HAVERSACK_PORT: '0',
  HAVERSACK_LOG_LEVEL: 'warn',
  HAVERSACK_OPENAI_URL: upstream,
})
const proxied = `http://127.0.0.1:${service.port}/openai`
const sockets: Readonly<Record<Way, WebSocket>> = {
  direct: await connect(upstream),
  plain: await connect(proxied, { 'x-haversack-bypass': 'true' }),
  rewritten: await connect(proxied),
}

const rows: string[][] = []
for (const [kind, message] of Object.entries(KINDS)) {
  const times: Record<Way, number[]> = { direct: [], plain: [], rewritten: [] }
  const spent: Record<Way, number> = { direct: 0, plain: 0, rewritten: 0 }
  const sizes: number[] = []
  // Ways take turns by blocks, so that the clock of the processor is read rarely.
  const block = 25
  for (let n = 0; n < WARM_UP + options.rounds; n += block) {
    for (let shift = 0; shift < WAYS.length; shift++) {
      const way = WAYS[(n / block + shift) % WAYS.length] as Way
      const messages = Array.from({ length: block }, (_, at) => message(n + at))
      const before = processorMs(service.pid)
      const took: number[] = []
      for (const each of messages) took.push(await turn(sockets[way], each))
      if (n < WARM_UP) continue
      spent[way] += processorMs(service.pid) - before
      times[way].push(...took)
      sizes.push(...messages.map(each => each.length))
    }
  }
  const added = (more: Way, less: Way) =>
    median(times[more].map((ms, at) => ms - (times[less][at] as number))).toFixed(2)
  const perMessage = (way: Way) => (spent[way] / times[way].length).toFixed(2)
  rows.push([
    kind,
    `${Math.round(median(sizes) / 1000)} KB`,
    `${times.plain.length}`,
    ...WAYS.map(way => percentile(times[way], 0.5).toFixed(2)),
    percentile(times.plain, 0.99).toFixed(2),
    percentile(times.rewritten, 0.99).toFixed(2),
    added('plain', 'direct'),
    added('rewritten', 'plain'),
    perMessage('plain'),
    perMessage('rewritten'),
  ])
}
for (const socket of Object.values(sockets)) socket.terminate()
await service.stop()
await vendor.stop()

const HEADER = [
  ...['message has', 'size', 'N', 'direct p50', 'plain p50', 'rewritten p50', 'plain p99'],
  ...['rewritten p99', 'added by passing', 'by rewriting', 'processor, plain', 'rewritten'],
]
const contents = options.corpus === '' ? 'made-up results' : 'recorded results'
const report = `${markdownTable(HEADER, rows)}\n\nMilliseconds a message; ${contents}; ${JSON.stringify(machine())}`
process.stdout.write(`${report}\n`)
if (options.write) writeSection('websocket', report)
