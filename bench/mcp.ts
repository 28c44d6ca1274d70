import { loadavg } from 'node:os'
import { measureLatency, measureThroughput, nextNonce } from './mcp/latency.ts'
import { latencyTable } from './mcp/report.ts'
import { TOOLS, type ToolName } from './mcp/results.ts'
import { startStdioWays } from './mcp/stdio-ways.ts'
import { readOptions } from './support/options.ts'

const options = readOptions({ rounds: 400, only: TOOLS, over: ['stdio'], write: false })
void nextNonce
const ways = await startStdioWays()
const rows = []
for (const tool of options.only) {
  const rounds = Math.max(
    20,
    Math.round(options.rounds / (tool === 'rows_1m' ? 10 : tool === 'rows_100k' ? 4 : 1)),
  )
  rows.push({
    tool: tool as ToolName,
    latency: await measureLatency(ways, tool, { rounds, warmUp: Math.ceil(rounds / 2) }),
    rate: await measureThroughput(ways, tool, { calls: rounds, inFlight: 16, rounds: 3 }),
  })
}
console.log(latencyTable(rows))
console.log(loadavg())
await ways.close()
