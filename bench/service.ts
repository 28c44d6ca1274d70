import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memory } from '../test/support/service-memory.ts'
import { firstSaving } from './service/first-saving.ts'
import { neighbours } from './service/neighbours.ts'
import { starts } from './service/start.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'

/**
 * npm run bench -- service [--only NAME,… --rounds N --seconds S --requests N --main FILE]
 *
 * `neighbours`: one tenant beside another that sends slow content. `memory`: `--requests` of every
 * kind while threads are lost; ends with 1 where memory grew after the warm-up. `start`: from the
 * start of the process to the first 200 of `/readyz`, with empty caches and with filled ones;
 * `--main` starts another version, such as a built package. `first-saving`: from an empty folder to
 * the first saving; ends with 1 after a minute.
 */
const options = readOptions({
  only: ['neighbours', 'memory', 'start', 'first-saving'],
  rounds: 5,
  seconds: 6,
  requests: 500_000,
  main: '',
})
const { rounds, seconds } = options

const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-'))
const PARTS: Record<
  (typeof options.only)[number],
  () => Promise<{ readonly text: string; readonly ok?: boolean }>
> = {
  neighbours: () => neighbours(folder, rounds, seconds),
  async memory() {
    const { rows, ok } = await memory(folder, options.requests)
    const header = ['median MiB after warm-up', 'first half', 'second half', 'ratio']
    return { text: markdownTable(header, rows), ok }
  },
  start: () => starts(folder, rounds, options.main),
  'first-saving': () => firstSaving(folder),
}
try {
  process.stdout.write(`${JSON.stringify(machine())}\n`)
  for (const name of options.only) {
    const { text, ok = true } = await PARTS[name]()
    process.stdout.write(`\n### ${name}\n\n${text}\n`)
    if (!ok) process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
