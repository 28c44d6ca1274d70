import { loadavg } from 'node:os'
import { measureLatency, measureThroughput } from './mcp/latency.ts'
import { latencyTable, listsReport, type Measured } from './mcp/report.ts'
import { TOOLS } from './mcp/results.ts'
import { startHttpWays, startStdioWays, type Ways } from './mcp/ways.ts'
import { machine } from './support/machine.ts'
import { writeSection } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'

/**
 * npm run bench -- mcp [--rounds N --over stdio,http --only latency,lists --search --write]
 *
 * What the MCP gateway adds to calls, beside direct calls and the relay that the official SDK makes:
 * real processes, the three in turn; and lists from memory. Results are made beforehand and differ in
 * each call; `image_4k` has nothing to pack, so it is forwarding alone. With `--search` calls go
 * through the gateway's `call_tool`.
 */
const options = readOptions({
  rounds: 400,
  over: ['stdio', 'http'],
  only: ['latency', 'lists'],
  search: false,
  write: false,
})

/** Large results are called less often. */
const SHARE: Readonly<Record<string, number>> = { rows_100k: 0.25, rows_1m: 0.1 }
const LEAST_ROUNDS = 20
const IN_FLIGHT = 16

async function measure(ways: Ways): Promise<Measured[]> {
  const rows: Measured[] = []
  for (const tool of TOOLS) {
    const rounds = Math.max(LEAST_ROUNDS, Math.round(options.rounds * (SHARE[tool] ?? 1)))
    const latency = await measureLatency(ways, tool, { rounds, warmUp: rounds })
    const load = { calls: rounds, inFlight: IN_FLIGHT, rounds: 3 }
    rows.push({ tool, latency, rate: await measureThroughput(ways, tool, load) })
  }
  return rows
}

const load = () => loadavg()[0]!.toFixed(1)
const before = load()
const parts: string[] = []
for (const over of options.over) {
  const ways = await (over === 'stdio' ? startStdioWays : startHttpWays)(options.search)
  const tables: string[] = []
  if (options.only.includes('latency')) tables.push(latencyTable(await measure(ways)))
  if (options.only.includes('lists')) tables.push(await listsReport(ways, options.rounds))
  await ways.close()
  if (tables.length > 0) parts.push(`Over ${over}:`, ...tables)
}
parts.push(`Load of the machine ${before} before and ${load()} after; ${JSON.stringify(machine())}`)
const report = parts.join('\n\n')
process.stdout.write(`${report}\n`)
if (options.write) writeSection('mcp', report)
