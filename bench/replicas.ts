import { encodes } from './replicas/encodes.ts'
import { limits } from './replicas/limits.ts'
import { movingSessions } from './replicas/moving-sessions.ts'
import { outages } from './replicas/outages.ts'
import { sessionMemory } from './replicas/session-memory.ts'
import { sharedRates } from './replicas/shared-rates.ts'
import { storeCalls } from './replicas/store-calls.ts'
import { machine } from './support/machine.ts'
import { readOptions } from './support/options.ts'

/**
 * npm run bench -- replicas [CORPUS] [--only store,encodes,memory,rates,outages,limits,sessions
 *   --rounds N --bodies N --many N --seconds S --sample N]
 *
 * The shared store against the embedded one; encodes with sessions on both; memory of sessions in
 * Redis; a key's rate over three replicas; a Redis that hangs and a failover, under load; calls on
 * `--many` bodies and during a purge; and with a CORPUS its recorded sessions on three replicas
 * against one process, every Nth of them. Needs `redis-server` on the path. Prints Markdown.
 */
const options = readOptions({
  only: ['store', 'encodes', 'memory', 'rates', 'outages', 'limits', 'sessions'],
  rounds: 5,
  bodies: 1_000,
  many: 1_000_000,
  seconds: 4,
  sample: 1,
  corpus: '',
})

const PARTS: Readonly<Record<string, () => Promise<string>>> = {
  store: () => storeCalls(options.rounds, options.bodies),
  encodes: () => encodes(options.rounds, options.seconds),
  limits: () => limits(options.many),
  memory: () => sessionMemory(options.seconds),
  rates: sharedRates,
  outages,
  sessions: async () =>
    options.corpus === '' ? 'No corpus was named.' : movingSessions(options.corpus, options.sample),
}

process.stdout.write(`${JSON.stringify(machine())}\n`)
for (const name of options.only) process.stdout.write(`\n${await PARTS[name]!()}\n`)
