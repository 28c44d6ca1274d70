import { loadavg } from 'node:os'
import { forwardingReport } from './proxy/forwarding.ts'
import { stepsFor } from './proxy/growing-conversations.ts'
import { startServers, warmUp } from './proxy/served.ts'
import { agent, rateReport } from './proxy/timed-call.ts'
import { machine } from './support/machine.ts'
import { writeSection } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'

/**
 * npm run bench -- proxy [CORPUS --rounds N --only rate|forwarding --write]
 *
 * Requests a second of many conversations at once, forwarded as they are and rewritten; and the
 * forwarder alone. Ways take turns. Recorded results with a corpus, else made-up ones. What a single
 * call takes: `bench -- speed`.
 */
const options = readOptions({
  corpus: '',
  rounds: 500,
  only: ['rate', 'forwarding'],
  write: false,
})
const corpus = options.corpus || undefined
const isWanted = (part: (typeof options.only)[number]) => options.only.includes(part)
const load = () => loadavg()[0]!.toFixed(1)

const before = load()
const parts: string[] = []
if (isWanted('rate')) {
  const servers = await startServers()
  const steps = stepsFor(corpus)
  await warmUp(servers, steps)
  parts.push(await rateReport(servers, corpus))
  await servers.stop()
}
if (isWanted('forwarding')) parts.push(await forwardingReport(options.rounds))
agent.destroy()

const contents = corpus === undefined ? 'made-up results' : 'recorded results'
const conditions = `Milliseconds; ${contents}; load of the machine ${before} before and ${load()} after; ${JSON.stringify(machine())}`
const report = [...parts, conditions].join('\n\n')
process.stdout.write(`${report}\n`)
if (options.write) writeSection('proxy', report)
