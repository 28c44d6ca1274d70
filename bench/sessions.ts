import { flood } from './sessions/flood.ts'
import { throughput } from './sessions/throughput.ts'
import { machine } from './support/machine.ts'
import { readOptions } from './support/options.ts'
import { writeSection } from './support/write-section.ts'

/**
 * npm run bench -- sessions [--only throughput,flood --rounds N --seconds S --write]
 *
 * The service with sessions, on loopback, with its store on disk: what a session costs an encode,
 * and what a million of sessions do to memory and to another tenant's. Prints Markdown; `--write`
 * puts it into bench/README.md.
 */
const options = readOptions({ only: ['throughput', 'flood'], rounds: 7, seconds: 4, write: false })

const SECTIONS: Readonly<Record<(typeof options.only)[number], () => Promise<string>>> = {
  throughput: () => throughput(options.rounds, options.seconds),
  flood,
}

const parts = [`\`${JSON.stringify(machine())}\``]
for (const name of options.only) {
  parts.push(await SECTIONS[name]())
}
const report = parts.join('\n\n')
process.stdout.write(`${report}\n`)
if (options.write) writeSection('sessions', report)
