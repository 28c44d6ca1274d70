import { parseArgs } from 'node:util'
import { machine } from './machine.ts'
import { flood } from './sessions/flood.ts'
import { throughput } from './sessions/throughput.ts'
import { writeSection } from './write-section.ts'

/**
 * npm run bench:sessions [-- --only throughput,flood --rounds N --seconds S --write]
 *
 * The service with sessions, on loopback, with its store on disk: what a session costs an encode,
 * and what a million of sessions do to memory and to another tenant's. Prints Markdown; `--write`
 * puts it into bench/README.md.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'throughput,flood' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '4' },
    write: { type: 'boolean', default: false },
  },
})

const SECTIONS: Readonly<Record<string, () => Promise<string>>> = {
  throughput: () => throughput(Number(values.rounds), Number(values.seconds)),
  flood,
}

const parts = [`\`${JSON.stringify(machine())}\``]
for (const name of values.only.split(',')) {
  const section = SECTIONS[name]
  if (section === undefined) throw new Error(`unknown section ${name}`)
  parts.push(await section())
}
const report = parts.join('\n\n')
process.stdout.write(`${report}\n`)
if (values.write) writeSection('sessions', report)
