import { readdirSync } from 'node:fs'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

/**
 * npm run bench -- NAME [options]
 *
 * Runs `bench/NAME.ts` with the options that come after its name. Without a name that is known, it
 * lists them. If a signal ends a bench, the processes that it started end too.
 */
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => process.exit(128 + constants.signals[signal]))
}

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const names = readdirSync(FOLDER)
  .filter(file => file.endsWith('.ts') && file !== 'run.ts')
  .map(file => file.slice(0, -'.ts'.length))

const [program = '', , name = '', ...options] = process.argv
if (names.includes(name)) {
  process.argv = [program, `${FOLDER}${name}.ts`, ...options]
  await import(`./${name}.ts`)
} else {
  process.stderr.write(
    `usage: npm run bench -- NAME [options]\nNAME is one of: ${names.join(', ')}\n`,
  )
  process.exitCode = 1
}
