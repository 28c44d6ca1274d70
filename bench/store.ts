import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { machine } from './machine.ts'
import { cap } from './store/cap.ts'
import { kill } from './store/kill.ts'
import { loopDelay, parts } from './store/parts.ts'
import { scale } from './store/scale.ts'
import { speed } from './store/speed.ts'

/**
 * npm run bench:store [-- --only speed,parts,delay,scale,cap,kill --entries N --kills N --dir DIR]
 *
 * The store of kept originals: against a file a body and against lmdb (installed for the bench
 * alone); parts of large bodies; the main thread's delay; few and many entries; the cap; killed
 * writers. Prints Markdown.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'speed,parts,delay,scale,cap,kill' },
    entries: { type: 'string', default: '1000000' },
    kills: { type: 'string', default: '100' },
    dir: { type: 'string', default: tmpdir() },
  },
})

const SECTIONS: Readonly<Record<string, [string, (folder: string) => Promise<string>]>> = {
  speed: ['Puts and gets', speed],
  parts: ['Parts of a large body, end to end', parts],
  delay: ['Delay of the main thread', loopDelay],
  scale: ['Few and many entries', folder => scale(folder, Number(values.entries))],
  cap: ['The cap under load', cap],
  kill: ['Killed writers', folder => kill(folder, Number(values.kills))],
}

process.stdout.write(`${JSON.stringify(machine())}\n`)
for (const name of values.only.split(',')) {
  const section = SECTIONS[name]
  if (section === undefined) throw new Error(`unknown section ${name}`)
  const folder = mkdtempSync(join(values.dir, 'haversack-bench-store-'))
  try {
    process.stdout.write(`\n### ${section[0]}\n\n${await section[1](folder)}\n`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
