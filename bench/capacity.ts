import { checkModel } from './capacity/check.ts'
import { capacityOf, costsOfEncode, type Load, MEASURED, TYPICAL } from './capacity/model.ts'
import { simulate } from './capacity/simulate.ts'
import { readOptions } from './support/options.ts'
import { createRandom } from './support/random.ts'

/**
 * npm run bench -- capacity [--agents N --turns N --bytes N --results N]
 * npm run bench -- capacity --check [--rounds N --seconds S]
 *
 * Pods, processors, Redis and money for so many agents, from measured costs, and how long results
 * wait in a simulation of the queues. Without `--agents`, for 100, 10,000 and 1,000,000 of them.
 * `--check` compares the model with three replicas on one Redis.
 */
const options = readOptions({
  agents: 0,
  turns: 60,
  bytes: 4_096,
  results: 300_000,
  check: false,
  rounds: 5,
  seconds: 4,
})

const HEADER = [
  '| agents | results/s | pods | by | calls/s | Redis GiB | nodes | by | p99 wait, ms | saved $/h | spent $/h |',
  '|---:|---:|---:|---|---:|---:|---:|---|---:|---:|---:|',
]

if (options.check) process.stdout.write(`${await checkModel(options.rounds, options.seconds)}\n`)
else printNeeds()

function printNeeds(): void {
  const counts = options.agents === 0 ? [100, 10_000, 1_000_000] : [options.agents]
  const notes: string[] = []
  process.stdout.write(`${HEADER.join('\n')}\n`)
  for (const agents of counts) {
    const load: Load = {
      ...TYPICAL,
      agents,
      turnsPerHour: options.turns,
      resultBytes: options.bytes,
    }
    const need = capacityOf(load)
    const random = createRandom(1)
    const costs = costsOfEncode(MEASURED, load.movingShare)
    const { p99WaitMs } = simulate(need, costs, { results: options.results, random })
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
}
