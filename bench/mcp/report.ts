import { median } from '../../src/bill/statistics.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { percentile } from '../support/statistics.ts'
import type { Latency } from './latency.ts'
import type { ToolName } from './results.ts'
import { WAYS } from './ways.ts'

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
