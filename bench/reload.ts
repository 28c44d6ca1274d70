import { reloadTable } from './reload/rounds.ts'
import { machine } from './support/machine.ts'
import { readOptions } from './support/options.ts'
import { writeSection } from './support/write-section.ts'

/**
 * npm run bench -- reload [--write]
 *
 * Reloads of the configuration under full load. Prints Markdown; `--write` puts it into
 * bench/README.md.
 */
const options = readOptions({ write: false })
const report = [`\`${JSON.stringify(machine())}\``, await reloadTable()].join('\n\n')
process.stdout.write(`${report}\n`)
if (options.write) writeSection('reload', report)
