import { median } from '../src/lab/bill/statistics.ts'
import type { BurstPlan, BurstResult } from './proxy/burst.ts'
import { stepsFor } from './proxy/growing-conversations.ts'
import { startServers, warmUp } from './proxy/served.ts'
import { agent } from './support/http-client.ts'
import { watchMachine } from './support/machine.ts'
import { markdownTable, publish } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { runPlan } from './support/processes.ts'

/**
 * npm run bench -- proxy [CORPUS --pairs N --write]
 *
 * Requests a second of many conversations at once, forwarded as they are and rewritten, in turn.
 * Recorded results with a corpus, else made-up ones. What a single call takes: `bench -- speed`.
 */
const options = readOptions({ corpus: '', pairs: 5, write: false })

const CONVERSATIONS = 32
const BYTES = 100_000
const WAYS = ['plain', 'rewritten'] as const

const busy = watchMachine()
const servers = await startServers()
await warmUp(servers, stepsFor(options.corpus))
const rates: Record<(typeof WAYS)[number], number[]> = { plain: [], rewritten: [] }
let requests = 0
for (let pair = 0; pair < options.pairs; pair++) {
  for (const way of WAYS) {
    const plan: BurstPlan = {
      url: servers.service,
      bytes: BYTES,
      conversations: CONVERSATIONS,
      from: 10_000 + pair * CONVERSATIONS,
      bypass: way === 'plain',
      corpus: options.corpus,
    }
    const result = await runPlan<BurstResult>('proxy/burst.ts', plan)
    rates[way].push(result.per_second)
    requests += result.requests
  }
}
await servers.stop()
agent.destroy()

const share = median(rates.rewritten.map((rate, n) => rate / rates.plain[n]!))
const rows = WAYS.map(way => {
  const ordered = rates[way].toSorted((a, b) => a - b)
  return [way, ...[median(ordered), ordered[0]!, ordered.at(-1)!].map(rate => rate.toFixed(0))]
})
const contents = options.corpus === '' ? 'made-up results' : 'recorded results'
publish(
  'proxy',
  [
    `Requests a second of ${CONVERSATIONS} conversations at once, ${BYTES / 1000} KB and one new result each, answered at once; ${options.pairs} pairs of runs, ${requests} requests. Rewritten ÷ plain: ${share.toFixed(2)}.`,
    markdownTable(['forwarded', 'median', 'least', 'most'], rows),
    `${contents}; ${busy()}`,
  ],
  options.write,
)
