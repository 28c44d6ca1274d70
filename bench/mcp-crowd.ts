import { loadavg } from 'node:os'
import { runCrowd } from './mcp/crowd.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { writeSection } from './support/write-section.ts'

/**
 * npm run bench -- mcp-crowd [--calls N --clients N --servers N --write]
 *
 * Calls of many clients to many servers through one service, both of both eras. The servers number
 * their calls, and every answer is checked against its call. Ends with 1 if one was lost, crossed
 * or doubled.
 */
const options = readOptions({ calls: 100_000, clients: 64, servers: 8, write: false })

const { calls, clients, servers } = options
const result = await runCrowd({ calls, clients, servers })
const { lost, crossed, doubled } = result
const report = [
  markdownTable(
    ['clients', 'servers', 'calls', ...Object.keys(result)],
    [[clients, servers, calls, ...Object.values(result).map(each => Number(each.toFixed(1)))]],
  ),
  `Load of the machine ${loadavg()[0]!.toFixed(1)}; ${JSON.stringify(machine())}`,
].join('\n\n')
process.stdout.write(`${report}\n`)
if (options.write) writeSection('mcp-crowd', report)
process.exitCode = lost + crossed + doubled === 0 ? 0 : 1
