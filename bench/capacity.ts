import { capacityOf, type Load, MEASURED, TYPICAL } from './capacity/model.ts'
import { simulate } from './capacity/simulate.ts'
import { readOptions } from './support/options.ts'
import { createRandom } from './support/random.ts'

/**
 * npm run bench -- capacity [--agents N --turns N --bytes N --results N]
 *
 * Pods, processors, Redis and money for so many agents, from measured costs, and how long results
 * wait in a simulation of the queues. Without `--agents`, for 100, 10,000 and 1,000,000 of them.
 */
const options = readOptions({ agents: 0, turns: 60, bytes: 4_096, results: 300_000 })

const HEADER = [
  '| agents | results/s | pods | by | calls/s | Redis GiB | nodes | by | p99 wait, ms | saved $/h | spent $/h |',
  '|---:|---:|---:|---|---:|---:|---:|---|---:|---:|---:|',
]

const counts = options.agents === 0 ? [100, 10_000, 1_000_000] : [options.agents]
const notes: string[] = []
process.stdout.write(`${HEADER.join('\n')}\n`)
for (const agents of counts) {
  const load: Load = { ...TYPICAL, agents, turnsPerHour: options.turns, resultBytes: options.bytes }
  const need = capacityOf(load)
  const random = createRandom(1)
  const { p99WaitMs } = simulate(need, MEASURED, { results: options.results, random })
  const cells = [
    agents,
    Math.round(need.resultsPerS * 10) / 10,
    need.pods,
    need.podsBy,
    Math.round(need.redisCallsPerS),
    need.redisGib.toFixed(need.redisGib < 1 ? 3 : 1),
    need.redisNodes,
    need.nodesBy,
    p99WaitMs.toFixed(1),
    need.savedPerHour.toFixed(2),
    need.spentPerHour.toFixed(2),
  ]
  const shown = cells.map(cell => (typeof cell === 'number' ? cell.toLocaleString('en') : cell))
  process.stdout.write(`| ${shown.join(' | ')} |\n`)
  const most = need.tenantMostAgents.toLocaleString('en')
  notes.push(
    `- ${agents.toLocaleString('en')}: ${need.breaksFirst}; a tenant may have ${most} agents`,
  )
}
process.stdout.write(`\nWhat breaks first:\n\n${notes.join('\n')}\n`)
