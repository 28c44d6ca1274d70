import { median } from '../../src/lab/bill/statistics.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { percentile, summarizeTimes } from '../support/statistics.ts'
import type { Latency } from './latency.ts'
import type { ToolName } from './results.ts'
import { WAYS, type Ways } from './ways.ts'

/** `tools/list` the ways in turn, and how many of the gateway's lists its server was asked for. */
export async function listsReport({ peers }: Ways, rounds: number): Promise<string> {
  const listsAsked = async () => {
    const answer = await peers.gateway.request('tools/call', '{"name":"counts","arguments":{}}')
    return Number(/lists\D+(\d+)/.exec(answer.toString())?.[1])
  }
  const times = { direct: [] as number[], relay: [] as number[], gateway: [] as number[] }
  const measure = async (way: (typeof WAYS)[number]) => {
    const started = performance.now()
    await peers[way].request('tools/list', '{}')
    times[way].push(performance.now() - started)
  }
  await measure('gateway')
  const before = await listsAsked()
  for (let round = 0; round < rounds; round++) await measure('gateway')
  const asked = (await listsAsked()) - before
  for (let round = 0; round < rounds; round++) for (const way of WAYS) await measure(way)
  const rows = WAYS.map(way => {
    const { p50_ms, p99_ms } = summarizeTimes(times[way])
    return [way, p50_ms.toFixed(2), p99_ms.toFixed(2), way === 'gateway' ? asked : '–']
  })
  return markdownTable(['tools/list', 'p50 ms', 'p99 ms', 'asked of the server'], rows)
}

export interface Measured {
  readonly tool: ToolName
  readonly latency: Latency
  readonly rate: Readonly<Record<'direct' | 'relay' | 'gateway', number>>
}

/** The difference within each round, so that a machine that is busy for a while counts for both. */
function added(ms: readonly number[], direct: readonly number[]): number {
  return median(ms.map((each, i) => each - direct[i]!))
}

/** A row for each size and way. */
export function latencyTable(rows: readonly Measured[]): string {
  const header = [
    'result',
    'way',
    'p50 ms',
    'p99 ms',
    'added p50',
    '× what the relay adds',
    'processor ms',
    'calls/s',
  ]
  const cells = rows.flatMap(({ tool, latency: { ms, cpuMs }, rate }) =>
    WAYS.map(way => {
      const more = added(ms[way], ms.direct)
      return [
        tool,
        way,
        percentile(ms[way], 0.5).toFixed(2),
        percentile(ms[way], 0.99).toFixed(2),
        way === 'direct' ? '–' : more.toFixed(2),
        way === 'gateway' ? (more / added(ms.relay, ms.direct)).toFixed(2) : '–',
        cpuMs[way].toFixed(2),
        Math.round(rate[way]),
      ]
    }),
  )
  return markdownTable(header, cells)
}
