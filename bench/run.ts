import { readdirSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { fileURLToPath } from 'node:url'

/**
 * npm run bench -- NAME [options]
 *
 * Runs `bench/NAME.ts` with the options that come after its name; `--help` prints what it measures
 * and takes. Without a name that is known, it lists them. If a signal ends a bench, the processes
 * that it started end too.
 */
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => process.exit(128 + constants.signals[signal]))
}

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
const names = readdirSync(FOLDER)
  .filter(file => file.endsWith('.ts') && file !== 'run.ts')
  .map(file => file.slice(0, -'.ts'.length))

/** The comment in which a bench says how it is run. */
function helpOf(name: string): string {
  const text = readFileSync(`${FOLDER}${name}.ts`, 'utf8')
  const comments = [...text.matchAll(/^\/\*\*\n(.*?)^ \*\/$/gms)].map(([, comment]) => comment!)
  return (comments.find(each => each.includes('npm run ')) ?? '').replace(/^ \* ?/gm, '')
}

const [program = '', , name = '', ...options] = process.argv
if (!names.includes(name)) {
  process.stderr.write(
    `usage: npm run bench -- NAME [options], or NAME --help\nNAME is one of: ${names.join(', ')}\n`,
  )
  process.exitCode = 1
} else if (options.includes('--help')) {
  process.stdout.write(helpOf(name))
} else {
  process.argv = [program, `${FOLDER}${name}.ts`, ...options]
  try {
    await import(`./${name}.ts`)
  } catch (error) {
    // Options that do not fit are no fault of the bench.
    const [said, usage] = error instanceof Error ? error.message.split('\nusage: ') : []
    if (usage === undefined) throw error
    process.stderr.write(`${said}\nusage: ${usage}\n`)
    process.exitCode = 1
  }
}
