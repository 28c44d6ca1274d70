import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endWithThis } from '../test/support/end-with-this.ts'
import { analyse, COLUMNS } from './kit/analyse.ts'
import { missingFor, REAL_TOOLS, runPass } from './kit/run.ts'
import { SUITES } from './kit/suites.ts'
import { markdownTable } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import type { Difference } from './trial/statistics.ts'

/**
 * npm run bench -- kit swebench|terminal-bench|tau2 --arm NAME --model MODEL --key-env NAME
 *   [--address IP] [--peer URL] [--url URL] [--pass N] [--folder FOLDER]
 * npm run bench -- kit analyse [--csv FILE | --folder FOLDER] [--json]
 *
 * Runs one pass of an arm on a public benchmark, or goes on with it. `analyse` compares the passes
 * of a folder, or of a file of such rows. See `docs/guide/prove-it.md`.
 */
const [what = '', ...args] = process.argv.slice(2)
const options = readOptions(
  {
    ...{ arm: '', model: '', 'key-env': '', address: '', peer: '', pass: 1, csv: '', json: false },
    ...{
      url: 'https://api.anthropic.com',
      folder: fileURLToPath(new URL('results/kit', import.meta.url)),
    },
  },
  args,
)

if (what === 'analyse') report()
else if (Object.hasOwn(SUITES, what)) await run()
else {
  process.stderr.write(`name one of ${[...Object.keys(SUITES), 'analyse'].join(', ')}\n`)
  process.exitCode = 2
}

async function run(): Promise<void> {
  const suite = SUITES[what]!
  const tools = {
    ...REAL_TOOLS,
    async run(program: string, args: readonly string[], env: NodeJS.ProcessEnv) {
      const child = spawn(program, args, { env, stdio: 'inherit' })
      endWithThis(child)
      const [code] = (await once(child, 'close')) as [number | null]
      return code ?? 1
    },
  }
  const missing = missingFor({ ...options, suite: what }, suite, tools)
  for (const each of missing) process.stderr.write(`${each}\n`)
  if (missing.length > 0) {
    process.exitCode = 2
    return
  }
  process.stderr.write(`${suite.tasks} tasks, about $${suite.dollars} a pass\n`)
  process.stdout.write(`${await runPass({ ...options, suite: what }, suite, tools)}\n`)
}

/** @throws {Error} if the results follow different protocols */
function readFolder(): string {
  const files = globSync(join(options.folder, '*', '*', 'pass-*', 'result.json')).toSorted()
  const results = files.map(file => JSON.parse(readFileSync(file, 'utf8')))
  const protocols = new Set(results.map(({ protocol, suite }) => `${protocol} ${suite}`))
  if (protocols.size > 1) throw new Error('the results are of several suites or protocols')
  return [COLUMNS, ...results.flatMap(({ rows }) => rows)].join('\n')
}

function report(): void {
  const arms = analyse(options.csv === '' ? readFolder() : readFileSync(options.csv, 'utf8'))
  if (options.json) {
    process.stdout.write(`${JSON.stringify(arms)}\n`)
    return
  }
  const percent = (share: number) => `${share > 0 ? '+' : ''}${(100 * share).toFixed(1)} %`
  const said = ({ change, low, high, verdict }: Difference) =>
    `${percent(change)} (${percent(low)} to ${percent(high)}): ${verdict ?? 'no verdict'}`
  const rows = arms.map(({ arm, cost, steps, cost_at_equal_steps, solved }) => [
    ...[arm, said(cost), said(steps), said(cost_at_equal_steps)],
    `+${solved.gained} −${solved.lost}: ${solved.verdict ?? 'no verdict'}`,
  ])
  const header = ['arm', 'cost', 'steps', 'cost at equal steps', 'solved']
  process.stdout.write(`${markdownTable(header, rows)}\n`)
}
