import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from '../src/lab/bill/statistics.ts'
import type { Step } from '../test/support/turns/bodies.ts'
import type { LinesClient } from './mcp/lines-client.ts'
import type { ToolName } from './mcp/results.ts'
import { call as callTool, startPeers } from './mcp/ways.ts'
import { growingConversation, stepsFor } from './proxy/growing-conversations.ts'
import { startServers, warmUp } from './proxy/served.ts'
import { startGateway, startMcpProxy } from './speed/peers.ts'
import { agent, timedCall } from './support/http-client.ts'
import { residentMib, watchMachine } from './support/machine.ts'
import { markdownTable, publish } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { percentile } from './support/statistics.ts'

/**
 * npm run bench -- speed [CORPUS --rounds N --peers --only vendor,mcp --write]
 *
 * What a call takes on its way to a vendor that answers at once: directly, twice (the second shows
 * what chance alone does), through Haversack that passes it on and that packs it, and with `--peers`
 * through a pinned gateway from npm. Bodies of 4, 100 and 750 KB; turns of conversations that grow,
 * and the first requests of new ones. Then calls of tools with results of these sizes: directly,
 * twice, through Haversack, and with `--peers` through the relay of the official SDK and one from
 * npm. One call at a time, the ways in turn. Recorded results with a corpus, else made-up ones.
 */
const options = readOptions({
  ...{ corpus: '', rounds: 200, peers: false, write: false },
  only: ['vendor', 'mcp'],
})

const SIZES = [4_000, 100_000, 750_000] as const
const TOOLS = ['rows_4k', 'rows_100k', 'rows_750k'] as const
/** Calls of each way that are not counted. */
const WARM_UP = 20

/** Milliseconds of a call, and bytes that were passed on: to the vendor, or to the client. */
interface Call {
  readonly end: number
  readonly bytes: number
}

interface Way<Request> {
  readonly name: string
  call(request: Request): Promise<Call>
}

/** A request, and whether it is only sent so that the next ones go on with it. */
interface Sent<Request> {
  readonly request: Request
  readonly isFirst: boolean
}

type Kind = 'growing' | 'new'

const rows: string[][] = []
const memory: string[][] = []

/** Bodies to send: turns of conversations, or the first requests of others. */
function* bodiesOf(kind: Kind, steps: readonly Step[], bytes: number): Generator<Sent<Uint8Array>> {
  // Other conversations for each kind and size: what was sent before is remembered.
  for (let n = bytes + (kind === 'new' ? 500_000 : 0); ; n++) {
    const { first, turns } = growingConversation(steps, n, bytes)
    yield { request: first, isFirst: kind === 'growing' }
    if (kind === 'growing') for (const request of turns) yield { request, isFirst: false }
  }
}

function* callsOf(tool: ToolName): Generator<Sent<ToolName>> {
  for (;;) yield { request: tool, isFirst: false }
}

/** Sends requests by all ways in turn, and adds a row for each. */
async function measure<Request>(
  about: readonly string[],
  ways: readonly Way<Request>[],
  requests: Iterable<Sent<Request>>,
): Promise<void> {
  const calls = ways.map((): Call[] => [])
  let round = -WARM_UP
  for (const { request, isFirst } of requests) {
    for (let turn = 0; turn < ways.length; turn++) {
      const at = (turn + round + WARM_UP) % ways.length
      const call = await ways[at]!.call(request)
      if (round >= 0 && !isFirst) calls[at]!.push(call)
    }
    if (!isFirst && ++round === options.rounds) break
  }
  for (const [at, own] of calls.entries()) {
    const times = own.map(({ end }) => end)
    const added = times.map((ms, n) => ms - calls[0]![n]!.end)
    const figures = [
      ...[percentile(times, 0.5), percentile(times, 0.99), median(added)],
      percentile(added, 0.99),
    ].map(ms => ms.toFixed(2))
    const rate = (1000 / (times.reduce((sum, ms) => sum + ms, 0) / times.length)).toFixed(0)
    const bytes = median(own.map(each => each.bytes))
    rows.push([
      ...[...about, ways[at]!.name, ...figures, rate],
      bytes === 0 ? '–' : (bytes / 1000).toFixed(1),
    ])
  }
}

const folder = mkdtempSync(join(tmpdir(), 'haversack-speed-'))

async function measureVendor(): Promise<void> {
  const servers = await startServers()
  const peers = options.peers ? [await startGateway(folder, servers.upstream)] : []
  const service = `${servers.service}/anthropic`
  const way = (name: string, url: string, more = {}): Way<Uint8Array> => ({
    name,
    async call(body) {
      const headers = { 'x-events': '1', ...more }
      const end = await timedCall(`${url}/v1/messages`, body, headers)
      const received = await fetch(`${servers.upstream}/received`)
      return { end, bytes: Number(await received.text()) }
    },
  })
  const ways = [
    ...['direct', 'direct again'].map(name => way(name, servers.upstream)),
    way('Haversack, passing', service, { 'x-haversack-bypass': 'true' }),
    way('Haversack, packing', service),
    ...peers.map(({ name, url, headers }) => way(name, url, headers)),
  ]
  const steps = stepsFor(options.corpus || undefined)
  await warmUp(servers, steps)
  for (const bytes of SIZES) {
    for (const kind of ['growing', 'new'] as const) {
      await measure([`${bytes / 1000} KB`, kind], ways, bodiesOf(kind, steps, bytes))
    }
  }
  for (const { name, pid } of [{ name: 'Haversack', pid: servers.pid }, ...peers]) {
    memory.push([name, residentMib(pid).toFixed(0)])
  }
  for (const { stop } of peers) stop()
  await servers.stop()
}

async function measureTools(): Promise<void> {
  const { direct, relay, gateway } = await startPeers(folder)
  const others = options.peers ? [await startMcpProxy(folder)] : []
  const way = (name: string, server: Pick<LinesClient, 'request'>): Way<ToolName> => ({
    name,
    async call(tool) {
      const started = performance.now()
      const bytes = await callTool(server, tool)
      return { end: performance.now() - started, bytes }
    },
  })
  const relays = options.peers ? [{ ...relay, name: "the SDK's relay" }, ...others] : []
  const ways = [
    ...['direct', 'direct again'].map(name => way(name, direct)),
    way('Haversack', gateway),
    ...relays.map(each => way(each.name, each)),
  ]
  for (const tool of TOOLS) {
    await measure([`${tool.slice(5, -1)} KB`, 'tool'], ways, callsOf(tool))
  }
  for (const { name, pid } of [{ name: 'Haversack', pid: gateway.pid }, ...relays]) {
    memory.push([`${name}, tools`, residentMib(pid).toFixed(0)])
  }
  for (const { stop } of others) stop()
  await Promise.all([direct, relay, gateway].map(peer => peer.close()))
}

const busy = watchMachine()
if (options.only.includes('vendor')) await measureVendor()
if (options.only.includes('mcp')) await measureTools()
agent.destroy()
rmSync(folder, { recursive: true, force: true })

const HEAD = [
  ...['body', 'conversation', 'way', 'p50', 'p99', 'added p50', 'added p99', 'a second'],
  'KB passed on',
]
const contents = options.corpus === '' ? 'made-up results' : 'recorded results'
publish(
  'speed',
  [
    markdownTable(HEAD, rows),
    markdownTable(['resident at the end', 'MiB'], memory),
    `Milliseconds; ${options.rounds} calls of each way; ${contents}; ${busy()}`,
  ],
  options.write,
)
