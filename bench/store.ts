import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cap } from './store/cap.ts'
import { kill } from './store/kill.ts'
import { loopDelay, parts } from './store/parts.ts'
import { scale } from './store/scale.ts'
import { speed } from './store/speed.ts'
import { machine } from './support/machine.ts'
import { readOptions } from './support/options.ts'

/**
 * npm run bench -- store [--only speed,parts,delay,scale,cap,kill --entries N --kills N --dir DIR]
 *
 * The store of kept originals: against a file a body and against lmdb (installed for the bench
 * alone); parts of large bodies; the main thread's delay; few and many entries; the cap; killed
 * writers. Prints Markdown.
 */
const options = readOptions({
  only: ['speed', 'parts', 'delay', 'scale', 'cap', 'kill'],
  entries: 1_000_000,
  kills: 100,
  dir: tmpdir(),
})

type Section = [title: string, measure: (folder: string) => Promise<string>]

const SECTIONS: Readonly<Record<(typeof options.only)[number], Section>> = {
  speed: ['Puts and gets', speed],
  parts: ['Parts of a large body, end to end', parts],
  delay: ['Delay of the main thread', loopDelay],
  scale: ['Few and many entries', folder => scale(folder, options.entries)],
  cap: ['The cap under load', cap],
  kill: ['Killed writers', folder => kill(folder, options.kills)],
}

process.stdout.write(`${JSON.stringify(machine())}\n`)
for (const name of options.only) {
  const [title, measure] = SECTIONS[name]
  const folder = mkdtempSync(join(options.dir, 'haversack-bench-store-'))
  try {
    process.stdout.write(`\n### ${title}\n\n${await measure(folder)}\n`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
