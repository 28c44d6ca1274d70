import { encodes } from './replicas/encodes.ts'
import { movingSessions } from './replicas/moving-sessions.ts'
import { sessionMemory } from './replicas/session-memory.ts'
import { storeCalls } from './replicas/store-calls.ts'
import { machine } from './support/machine.ts'
import { readOptions } from './support/options.ts'

/**
 * npm run bench -- replicas [CORPUS] [--only store,encodes,sessions --rounds N --bodies N
 *   --seconds S --sample N]
 *
 * The shared store against the embedded one, encodes with sessions on both, and with a CORPUS its
 * recorded sessions on three replicas against one process; every Nth of them. Needs `redis-server`
 * on the path. Prints Markdown.
 */
const options = readOptions({
  only: ['store', 'encodes', 'memory', 'sessions'],
  rounds: 5,
  bodies: 1_000,
  seconds: 4,
  sample: 1,
  corpus: '',
})

const PARTS: Readonly<Record<string, () => Promise<string>>> = {
  store: () => storeCalls(options.rounds, options.bodies),
  encodes: () => encodes(options.rounds, options.seconds),
  memory: () => sessionMemory(options.seconds),
  sessions: async () =>
    options.corpus === '' ? 'No corpus was named.' : movingSessions(options.corpus, options.sample),
}

process.stdout.write(`${JSON.stringify(machine())}\n`)
for (const name of options.only) process.stdout.write(`\n${await PARTS[name]!()}\n`)
