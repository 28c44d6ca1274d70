import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { room } from './dedup/room.ts'
import { latency, speed } from './dedup/speed.ts'
import { storms, threads } from './dedup/threads.ts'
import { machine } from './support/machine.ts'
import { readOptions } from './support/options.ts'

/**
 * npm run bench -- dedup [--only speed,latency,threads,room,storms --operations N --kills N]
 *
 * The session index: against the bare hash, lru-cache and lmdb (installed for the bench alone); two
 * threads against one; its memory; four threads that must lose nothing, and threads that are
 * terminated. Prints Markdown.
 */
const options = readOptions({
  only: ['speed', 'latency', 'threads', 'room', 'storms'],
  operations: 1_000_000,
  kills: 200,
})

type Section = [title: string, measure: (folder: string) => Promise<string>]

const SECTIONS: Readonly<Record<(typeof options.only)[number], Section>> = {
  speed: ['Bodies of 4 KiB, one thread', speed],
  latency: ['Single operations', latency],
  threads: ['Two threads', threads],
  room: ['Memory', room],
  storms: ['Threads that share sessions', () => storms(options.operations, options.kills)],
}

process.stdout.write(`${JSON.stringify(machine())}\n`)
for (const name of options.only) {
  const [title, measure] = SECTIONS[name]
  const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-dedup-'))
  try {
    process.stdout.write(`\n### ${title}\n\n${await measure(folder)}\n`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
