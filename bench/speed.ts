import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from '../src/lab/bill/statistics.ts'
import type { Step } from '../test/support/turns/bodies.ts'
import {
  type GrowingConversation,
  growingConversation,
  stepsFor,
} from './proxy/growing-conversations.ts'
import { startServers, warmUp } from './proxy/served.ts'
import { agent, timedCall } from './proxy/timed-call.ts'
import { type Peer, startPeers } from './speed/peers.ts'
import { machine } from './support/machine.ts'
import { markdownTable, writeSection } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { percentile } from './support/statistics.ts'

/**
 * npm run bench -- speed [CORPUS --rounds N --peers --write]
 *
 * What a call takes on its way to a vendor that answers at once: directly, twice (the second shows
 * what chance alone does), through Haversack that passes it on and that packs it, and with `--peers`
 * through pinned gateways from npm. Bodies of 4, 100 and 750 KB; turns of conversations that grow,
 * and the first requests of new ones. One call at a time, the ways in turn. Recorded results with a
 * corpus, else made-up ones.
 */
const options = readOptions({ corpus: '', rounds: 200, peers: false, write: false })

const SIZES = [4_000, 100_000, 750_000] as const
/** Calls of each way that are not counted. */
const WARM_UP = 20
const MIB = 2 ** 20

interface Way {
  readonly name: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

type Kind = 'growing' | 'new'

const load = () => loadavg()[0]!.toFixed(1)

/** Bodies to send: turns of conversations, or the first requests of others. */
function* bodiesOf(
  kind: Kind,
  steps: readonly Step[],
  bytes: number,
): Generator<GrowingConversation> {
  // Other conversations for each kind and size: what was sent before is remembered.
  for (let n = bytes + (kind === 'new' ? 500_000 : 0); ; n++) {
    const conversation = growingConversation(steps, n, bytes)
    yield kind === 'growing' ? conversation : { ...conversation, turns: [conversation.first] }
  }
}

/** Milliseconds of each way's calls, in the order of the rounds. */
async function measured(
  ways: readonly Way[],
  kind: Kind,
  steps: readonly Step[],
  bytes: number,
): Promise<readonly (readonly number[])[]> {
  const times = ways.map((): number[] => [])
  let round = -WARM_UP
  const call = ({ url, headers }: Way, body: Uint8Array) =>
    timedCall(`${url}/v1/messages`, body, { 'content-type': 'application/json', ...headers })
  for (const { first, turns } of bodiesOf(kind, steps, bytes)) {
    if (kind === 'growing') for (const way of ways) await call(way, first)
    for (const body of turns) {
      for (let turn = 0; turn < ways.length; turn++) {
        const at = (turn + round + WARM_UP) % ways.length
        const ms = await call(ways[at]!, body)
        if (round >= 0) times[at]!.push(ms)
      }
      if (++round === options.rounds) return times
    }
  }
  return times
}

/** Resident memory of a process. */
function resident(pid: number): string {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return ((Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024) / MIB).toFixed(0)
}

const HEAD = ['body', 'conversation', 'way', 'p50', 'p99', 'added p50', 'added p99', 'a second']

const before = load()
const folder = mkdtempSync(join(tmpdir(), 'haversack-speed-'))
const servers = await startServers()
const peers: readonly Peer[] = options.peers ? await startPeers(folder, servers.upstream) : []
const events = { 'x-events': '1' }
const service = `${servers.service}/anthropic`
const ways: readonly Way[] = [
  { name: 'direct', url: servers.upstream, headers: events },
  { name: 'direct again', url: servers.upstream, headers: events },
  {
    name: 'Haversack, passing',
    url: service,
    headers: { ...events, 'x-haversack-bypass': 'true' },
  },
  { name: 'Haversack, packing', url: service, headers: events },
  ...peers.map(({ name, url, headers }) => ({ name, url, headers: { ...events, ...headers } })),
]
const steps = stepsFor(options.corpus)
await warmUp(servers, steps)
const rows: string[][] = []
for (const bytes of SIZES) {
  for (const kind of ['growing', 'new'] as const) {
    const [direct = [], ...others] = await measured(ways, kind, steps, bytes)
    for (const [at, times] of [direct, ...others].entries()) {
      const added = times.map((ms, n) => ms - direct[n]!)
      const figures = [
        ...[percentile(times, 0.5), percentile(times, 0.99), median(added)],
        percentile(added, 0.99),
      ].map(ms => ms.toFixed(2))
      const rate = (1000 / (times.reduce((sum, ms) => sum + ms, 0) / times.length)).toFixed(0)
      rows.push([`${bytes / 1000} KB`, kind, ways[at]!.name, ...figures, rate])
    }
  }
}
const memory = [
  ['Haversack', resident(servers.pid)],
  ...peers.map(({ name, pid }) => [name, resident(pid)]),
]
for (const { stop } of peers) stop()
await servers.stop()
agent.destroy()
rmSync(folder, { recursive: true, force: true })

const contents = options.corpus === '' ? 'made-up results' : 'recorded results'
const report = [
  markdownTable(HEAD, rows),
  markdownTable(['resident at the end', 'MiB'], memory),
  `Milliseconds; ${options.rounds} calls of each way; ${contents}; load of the machine ${before} before and ${load()} after; ${JSON.stringify(machine())}`,
].join('\n\n')
process.stdout.write(`${report}\n`)
if (options.write) writeSection('speed', report)
