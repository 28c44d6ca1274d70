import { median } from '../../src/lab/bill/statistics.ts'
import { measuredBy } from '../support/machine.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { load, startServer } from '../support/processes.ts'
import { encodeBodies } from './bodies.ts'

const SIZES = [
  { bytes: 4_096, count: 64, connections: 32 },
  { bytes: 100_000, count: 16, connections: 8 },
  { bytes: 750_000, count: 4, connections: 4 },
]

/** Encodes a second by size, and what one takes of the main thread and of the whole process. */
export async function rate(folder: string, rounds: number, seconds: number) {
  const server = await startServer('support/session-server.ts')
  const rows: (string | number)[][] = []
  for (const { bytes, count, connections } of SIZES) {
    const bodies = encodeBodies(folder, bytes, count)
    const plan = {
      ...{ url: `${server.url}/v1/encode`, bodies, connections, seconds },
    }
    await load(plan)
    const runs: number[][] = []
    for (let round = 0; round < rounds; round++) {
      await measuredBy(server)
      const { requests, errors, per_second, p50_ms, p99_ms } = await load(plan)
      if (errors > 0) throw new Error('requests failed')
      const { main_ms, process_ms, resident_mib } = await measuredBy(server)
      const times = [p50_ms, p99_ms, main_ms / requests, process_ms / requests]
      runs.push([per_second, (per_second * bytes) / 1e6, ...times, resident_mib])
    }
    rows.push([bytes, ...runs[0]!.map((_, i) => median(runs.map(run => run[i]!)))])
  }
  await server.stop()
  const times = ['p50 ms', 'p99 ms', 'main thread ms', 'process ms', 'resident MiB']
  return { text: markdownTable(['bytes', 'a second', 'MB/s', ...times], rows) }
}
