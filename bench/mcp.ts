import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from '../src/lab/bill/statistics.ts'
import type { Peer } from './mcp/lines-client.ts'
import { TOOLS, type ToolName } from './mcp/results.ts'
import { call, type Peers, startPeers, WAYS, type Way } from './mcp/ways.ts'
import { cpuUsOf, watchMachine } from './support/machine.ts'
import { publish, tableOf } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { percentile } from './support/statistics.ts'

/**
 * npm run bench -- mcp [--rounds N --write]
 *
 * What the MCP gateway adds to calls over stdio, beside direct calls and the relay that the official
 * SDK makes: real processes, the three in turn. Results are made beforehand and differ in each call;
 * `image_4k` has nothing to pack, so it is forwarding alone.
 */
const options = readOptions({ rounds: 400, write: false })

/** Large results are called less often. */
const SHARE: Readonly<Record<string, number>> = { rows_100k: 0.25, rows_1m: 0.1 }
const LEAST_ROUNDS = 20
/** Calls under way at once, and how often their rate is taken. */
const IN_FLIGHT = 16
const RATES = 3

/** Milliseconds of calls one after another, the ways in turn, and processor time of a call. */
async function latency(peers: Peers, tool: ToolName, rounds: number) {
  const ms: Record<Way, number[]> = { direct: [], relay: [], gateway: [] }
  const cpu = () => WAYS.map(way => cpuUsOf([peers[way]]))
  for (let round = 0; round < rounds; round++) for (const way of WAYS) await call(peers[way], tool)
  const before = cpu()
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < WAYS.length; turn++) {
      const way = WAYS[(turn + round) % WAYS.length] as Way
      const started = performance.now()
      await call(peers[way], tool)
      ms[way].push(performance.now() - started)
    }
  }
  return { ms, cpuMs: cpu().map((us, at) => (us - before[at]!) / 1000 / rounds) }
}

/** Calls a second with many under way at once. */
async function rateOf(peer: Peer, tool: ToolName, calls: number): Promise<number> {
  const started = performance.now()
  let left = calls
  const caller = async () => {
    while (left-- > 0) await call(peer, tool)
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, caller))
  return (calls * 1000) / (performance.now() - started)
}

/** The difference within each round, so that a machine that is busy for a while counts for both. */
const added = (ms: readonly number[], direct: readonly number[]) =>
  median(ms.map((each, i) => each - direct[i]!))

async function rowsOf(peers: Peers, tool: ToolName) {
  const rounds = Math.max(LEAST_ROUNDS, Math.round(options.rounds * (SHARE[tool] ?? 1)))
  const { ms, cpuMs } = await latency(peers, tool, rounds)
  const rates = WAYS.map((): number[] => [])
  for (let turn = 0; turn < RATES; turn++) {
    for (const [at, way] of WAYS.entries()) rates[at]!.push(await rateOf(peers[way], tool, rounds))
  }
  return WAYS.map((way, at) => {
    const more = added(ms[way], ms.direct)
    return {
      ...{ result: tool, way },
      'p50 ms': percentile(ms[way], 0.5).toFixed(2),
      'p99 ms': percentile(ms[way], 0.99).toFixed(2),
      'added p50': way === 'direct' ? '–' : more.toFixed(2),
      '× what the relay adds':
        way === 'gateway' ? (more / added(ms.relay, ms.direct)).toFixed(2) : '–',
      'processor ms': cpuMs[at]!.toFixed(2),
      'calls/s': Math.round(percentile(rates[at]!, 0.5)),
    }
  })
}

const busy = watchMachine()
const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-mcp-'))
const peers = await startPeers(folder)
const rows = []
for (const tool of TOOLS) rows.push(...(await rowsOf(peers, tool)))
await Promise.all(WAYS.map(way => peers[way].close()))
rmSync(folder, { recursive: true, force: true })
const about = `Over stdio, ${options.rounds} rounds; ${busy()}`
publish('mcp', [tableOf(rows), about], options.write)
