import { encodes } from './store/encodes.ts'
import { redisMemory } from './store/redis-memory.ts'
import { machine } from './support/machine.ts'
import { readOptions } from './support/options.ts'

/**
 * npm run bench -- store [--only NAME,… --rounds N --seconds S]
 *
 * `encodes`: encodes with a session on SQLite, on one Redis, and through three services on one
 * Redis. `memory`: what bodies, records and sessions take in Redis. Needs `redis-server` on the path.
 */
const options = readOptions({
  only: ['encodes', 'memory'],
  rounds: 5,
  seconds: 4,
})
const { rounds, seconds } = options

const PARTS: Record<(typeof options.only)[number], () => Promise<string>> = {
  encodes: () => encodes(rounds, seconds),
  memory: () => redisMemory(seconds),
}
process.stdout.write(`${JSON.stringify(machine())}\n`)
for (const name of options.only) {
  process.stdout.write(`\n### ${name}\n\n${await PARTS[name]()}\n`)
}
