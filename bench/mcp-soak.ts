import { runSoak } from './mcp/soak.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { writeSection } from './support/write-section.ts'

/**
 * npm run bench -- mcp-soak [--calls N --clients N --kill S --write]
 *
 * Many calls through the MCP gateway, while a server is killed every few seconds and clients vanish
 * in the middle of their calls. Afterwards nothing may be left, and no memory have grown. Ends with
 * 1 otherwise.
 */
const options = readOptions({ calls: 24_000, clients: 4, kill: 5, write: false })

/** What the last quarter may have above the second: noise of when garbage is collected. */
const NOISE_MIB = 8

const started = performance.now()
const result = await runSoak({
  calls: options.calls,
  clients: options.clients,
  callsOfClient: 300,
  killMs: options.kill * 1000,
})
const seconds = (performance.now() - started) / 1000
const { left, heapMib, ...counts } = result
const { resources, ...numbers } = left
const report = [
  `${options.calls} calls of ${options.clients} clients at a time in ${seconds.toFixed(0)} s; ${JSON.stringify(machine())}`,
  markdownTable(Object.keys(counts), [Object.values(counts)]),
  markdownTable(
    ['heap after the 1st quarter, MiB', '2nd', '3rd', '4th'],
    [heapMib.map(mib => Number(mib.toFixed(1)))],
  ),
  markdownTable(
    [...Object.keys(numbers).map(name => `${name} left`), 'timers and handles left'],
    [[...Object.values(numbers), resources.join(', ') || 'none']],
  ),
].join('\n\n')
process.stdout.write(`${report}\n`)
if (options.write) writeSection('mcp-soak', report)

const [, second = 0, , last = 0] = heapMib
const isClean =
  counts.crossed === 0 &&
  resources.length === 0 &&
  Object.values(numbers).every(number => number === 0)
process.exitCode = isClean && last <= second + NOISE_MIB ? 0 : 1
