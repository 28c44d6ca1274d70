import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { room } from './dedup/room.ts'
import { latency, speed } from './dedup/speed.ts'
import { storms, threads } from './dedup/threads.ts'
import { machine } from './machine.ts'

/**
 * npm run bench:dedup [-- --only speed,latency,threads,room,storms --operations N --kills N]
 *
 * The session index: against the bare hash, lru-cache and lmdb (installed for the bench alone); two
 * threads against one; its memory; four threads that must lose nothing, and threads that are
 * terminated. Prints Markdown.
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'speed,latency,threads,room,storms' },
    operations: { type: 'string', default: '1000000' },
    kills: { type: 'string', default: '200' },
  },
})

const SECTIONS: Readonly<Record<string, [string, (folder: string) => Promise<string>]>> = {
  speed: ['Bodies of 4 KiB, one thread', speed],
  latency: ['Single operations', latency],
  threads: ['Two threads', threads],
  room: ['Memory', room],
  storms: [
    'Threads that share sessions',
    () => storms(Number(values.operations), Number(values.kills)),
  ],
}

process.stdout.write(`${JSON.stringify(machine())}\n`)
for (const name of values.only.split(',')) {
  const section = SECTIONS[name]
  if (section === undefined) throw new Error(`unknown section ${name}`)
  const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-dedup-'))
  try {
    process.stdout.write(`\n### ${section[0]}\n\n${await section[1](folder)}\n`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
