import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { machine } from './support/machine.ts'
import { markdownTable, tableOf } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { ARMS, type Arm } from './trial/arms.ts'
import { ANTHROPIC, OPENAI } from './trial/dialects.ts'
import { readAll } from './trial/read-all.ts'
import { type ArmResult, judge, powerOf, resultsFile } from './trial/results.ts'
import { dollarPrices, estimate, playPairs, type TrialTerms } from './trial/with-model.ts'

/**
 * npm run bench -- trial [--seed N] [--pairs N] [--arms NAME,…] [--json]
 * npm run bench -- trial --url URL --model MODEL --key-env NAME [--dialect anthropic|openai]
 *   [--passes N] [--budget USD] [--folder FOLDER]
 *
 * Agents at work: tasks that are computed from seeds, done through a real service in several arms.
 *
 * Without `--url` the model is a plain reader, which knows the published grammars and what it is
 * sent. Exits with 0 if it solves every task in every arm.
 *
 * With it, a model works until the budget is spent. The key is in the variable that `--key-env`
 * names. Transcripts and results are kept in the folder, without the key.
 */
const options = readOptions({
  ...{ seed: 1, pairs: 60, arms: ARMS, json: false },
  ...{ url: '', model: '', 'key-env': '', dialect: 'anthropic' },
  ...{ passes: 1, budget: 10 },
  folder: fileURLToPath(new URL('results/trial', import.meta.url)),
})
const arms = options.arms as readonly Arm[]
const HEADER = [
  'arm',
  'bill, of the same requests',
  'steps',
  'solved',
  'cost at equal steps',
  'cost',
]

if (options.url === '') await readPlainly()
else await askModel()

async function readPlainly(): Promise<void> {
  const seeds = Array.from({ length: options.pairs }, (_, at) => options.seed + at)
  const read = await readAll(seeds, arms)
  for (const fault of read.faults) process.stderr.write(`${fault}\n`)
  if (options.json) process.stdout.write(`${JSON.stringify(read)}\n`)
  else process.stdout.write(`${JSON.stringify(machine())}\n\n${tableOf(read.arms)}\n`)
  if (read.faults.length > 0) process.exitCode = 1
}

async function askModel(): Promise<void> {
  const { url, model, seed, pairs, passes, budget, folder } = options
  const key = process.env[options['key-env']] ?? ''
  const dialect = [ANTHROPIC, OPENAI].find(({ vendor }) => vendor === options.dialect)
  if (dialect === undefined) throw new Error('--dialect is anthropic or openai')
  const terms: TrialTerms = { url, model, key, dialect, seed, pairs, passes, budget, arms }
  const about = {
    ...{ model, dialect: dialect.vendor, seed, passes, budget, prices: dollarPrices(terms) },
    ...{ haversack: commit(), ...machine() },
  }
  const dollars = (await estimate(terms)).toFixed(2)
  process.stderr.write(`${powerOf(pairs)}\nestimated: $${dollars}; the budget is $${budget}\n`)
  // A provider may quote a key in its errors, and a model whatever it was sent.
  const clean = (text: string) => (key === '' ? text : text.replaceAll(key, '[key]'))
  const lines: string[] = []
  const played = await playPairs(terms, line => lines.push(clean(JSON.stringify(line))))
  const transcripts = `${lines.join('\n')}\n`
  const results = clean(resultsFile(about, played, arms, transcripts))
  const name = model.replace(/[^\w.-]+/g, '-')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.transcripts.jsonl`), transcripts)
  writeFileSync(join(folder, `${name}.json`), results)
  const rows = judge(played.pairs, arms).map(rowOf)
  const { length } = played.pairs
  const end = played.isOverBudget ? 'the budget is spent; ' : ''
  const said = `${end}${length} pairs, ${played.excluded.length} excluded, $${played.spent.toFixed(2)} spent`
  process.stdout.write(options.json ? results : `${said}\n\n${markdownTable(HEADER, rows)}\n`)
}

function rowOf({ arm, bill, steps, solved, cost_at_equal_steps, cost }: ArmResult) {
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`.replace('-', '−')
  const said = ({ change, low, high, verdict }: ArmResult['steps']) => {
    const interval = `${percent(change)} (${percent(low)} to ${percent(high)})`
    return Number.isFinite(high) ? `${interval}: ${verdict ?? 'no verdict'}` : '–'
  }
  const lost = `+${solved.gained} −${solved.lost}, p = ${solved.p.toFixed(2)}`
  const all = solved.all_of_3 === null ? '' : `; all of 3: ${percent(solved.all_of_3)}`
  return [
    ...[arm, bill === null ? '–' : percent(-bill.saved), said(steps)],
    ...[`${lost}: ${solved.verdict ?? 'no verdict'}${all}`, said(cost_at_equal_steps), said(cost)],
  ]
}

function commit(): string {
  try {
    const options = { cwd: import.meta.dirname, stdio: 'pipe' } as const
    return execFileSync('git', ['rev-parse', 'HEAD'], options).toString().trim()
  } catch {
    return 'unknown'
  }
}
