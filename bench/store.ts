import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { capacityTable, TYPICAL } from './store/capacity.ts'
import { encodes } from './store/encodes.ts'
import { redisMemory } from './store/redis-memory.ts'
import { speed } from './store/speed.ts'
import { machine } from './support/machine.ts'
import { readOptions } from './support/options.ts'

/**
 * npm run bench -- store [--only NAME,… --rounds N --seconds S --agents N --turns N --bytes N]
 *
 * `speed`: puts and gets beside one file a body and lmdb, which the bench installs. `encodes`:
 * encodes with a session on SQLite, on one Redis, and through three services on one Redis.
 * `memory`: what bodies, records and sessions take in Redis. `capacity`: pods, Redis and money for
 * so many agents, from measured costs; without `--agents` for 100, 10,000 and 1,000,000. Needs
 * `redis-server` on the path but for the first and the last.
 */
const options = readOptions({
  only: ['speed', 'encodes', 'memory', 'capacity'],
  rounds: 5,
  seconds: 4,
  agents: 0,
  turns: TYPICAL.turnsPerHour,
  bytes: TYPICAL.resultBytes,
})
const { rounds, seconds, agents, turns, bytes } = options

const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-'))
const PARTS: Record<(typeof options.only)[number], () => string | Promise<string>> = {
  speed: () => speed(folder),
  encodes: () => encodes(folder, rounds, seconds),
  memory: () => redisMemory(seconds),
  capacity: () =>
    capacityTable(agents === 0 ? [100, 10_000, 1_000_000] : [agents], {
      ...TYPICAL,
      turnsPerHour: turns,
      resultBytes: bytes,
    }),
}
try {
  process.stdout.write(`${JSON.stringify(machine())}\n`)
  for (const name of options.only) {
    process.stdout.write(`\n### ${name}\n\n${await PARTS[name]()}\n`)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
