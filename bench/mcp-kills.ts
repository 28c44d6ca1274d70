import { loadavg } from 'node:os'
import { runKills } from './mcp/kills.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { writeSection } from './support/write-section.ts'

/**
 * npm run bench -- mcp-kills [--kills N --servers N --rest S --write]
 *
 * Servers over stdio are killed in the middle of a call: how long until that call is answered, and
 * until a call works again. A server that dies again within ten seconds is started ever more
 * slowly, so each is killed after `--rest` seconds. Goals: 1 s and 3 s.
 */
const options = readOptions({ kills: 60, servers: 12, rest: 11, write: false })

const GOALS_MS = { answer: 1_000, next: 3_000 }

const { answer, next, refused, unexplained } = await runKills({
  kills: options.kills,
  servers: options.servers,
  restMs: options.rest * 1000,
})
const rows = [
  ['the call that was under way is answered', answer, GOALS_MS.answer],
  ['a later call has its result', next, GOALS_MS.next],
] as const
const report = [
  `${options.kills} kills; ${refused} calls refused before that; ${unexplained} errors did not say that the call may have happened. Load of the machine ${loadavg()[0]!.toFixed(1)}; ${JSON.stringify(machine())}`,
  markdownTable(
    ['after SIGKILL', 'p50 ms', 'p99 ms', 'max ms', 'goal ms'],
    rows.map(([name, { p50_ms, p99_ms, max_ms }, goal]) => [
      name,
      ...[p50_ms, p99_ms, max_ms].map(ms => Number(ms.toFixed(1))),
      goal,
    ]),
  ),
].join('\n\n')
process.stdout.write(`${report}\n`)
if (options.write) writeSection('mcp-kills', report)
const isReached = answer.max_ms <= GOALS_MS.answer && next.max_ms <= GOALS_MS.next
process.exitCode = isReached && unexplained === 0 ? 0 : 1
