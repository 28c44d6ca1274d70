/**
 * Changes the code in small ways and counts how many changes the tests notice: see CONTRIBUTING.md.
 *
 *     npm run mutate -- hints store --percent 10 --seed tuesday
 */
import { mkdirSync, readFileSync } from 'node:fs'
import { basename, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { Stryker } from '@stryker-mutator/core'
import { AREAS, type Area } from './mutate/areas.ts'
import { isEquivalent } from './mutate/equivalent.ts'
import { inSample, type Sample } from './mutate/sample.ts'
import { scoreOf } from './mutate/score.ts'

type Mutant = Awaited<ReturnType<Stryker['runMutationTest']>>[number]

/** Stryker's own copies of the project; ignored by git. */
const WORK = '.stryker-tmp'
const NOTICED: ReadonlySet<string> = new Set(['Killed', 'Timeout'])
const MISSED: ReadonlySet<string> = new Set(['Survived', 'NoCoverage'])

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    percent: { type: 'string' },
    seed: { type: 'string', default: '18' },
    concurrency: { type: 'string', default: '1' },
  },
})
const names = positionals.length > 0 ? positionals : Object.keys(AREAS)
const unknown = names.filter(name => AREAS[name] === undefined)
if (unknown.length > 0) throw new Error(`no such area: ${unknown.join(', ')}`)

const rows: string[] = []
for (const name of names) {
  const area = AREAS[name] as Area
  const percent = Number(values.percent ?? area.percent)
  rows.push(await run(name, area, { seed: values.seed, percent }))
}
print(
  '| area | changes | tried | equivalent | noticed | of these by time | score | 95 % interval |',
)
print('|---|---:|---:|---:|---:|---:|---:|---|')
for (const row of rows) print(row)

/** Tries a sample of an area's changes; prints those that no test noticed. */
async function run(name: string, area: Area, sample: Sample): Promise<string> {
  mkdirSync(WORK, { recursive: true })
  const stryker = new Stryker({
    mutate: [...area.code],
    testFiles: [...area.tests],
    testRunner: 'vitest',
    vitest: { related: false, configFile: 'scripts/mutate/vitest.config.ts' },
    plugins: ['@stryker-mutator/vitest-runner', './scripts/mutate/sample-checker.ts'],
    checkers: ['sample'],
    sample,
    coverageAnalysis: 'perTest',
    // Stryker 10.1.1 never activates changes of what runs at import if `testFiles` is set: it runs
    // every test on the unchanged code and calls them survivors.
    ignoreStatic: true,
    concurrency: Number(values.concurrency),
    // TypeScript 7 has no programming interface; Stryker would ask it to rewrite paths.
    tsconfigFile: 'none.json',
    ignorePatterns: [WORK, 'coverage', '.haversack'],
    tempDirName: `${WORK}/${name}`,
    reporters: ['progress-append-only'],
    timeoutMS: 60_000,
    dryRunTimeoutMinutes: 60,
    warnings: false,
    allowConsoleColors: false,
  })
  const all = await stryker.runMutationTest()
  const tried = all.filter(each => inSample(sample, each.id))
  const noticed = tried.filter(({ status }) => NOTICED.has(status))
  const missed = tried.filter(({ status }) => MISSED.has(status))
  const open = missed.filter(each => !isEquivalent(changeOf(each)))
  for (const each of open) print(`${describe(each)}\n`)
  const equivalent = missed.length - open.length
  const {
    tried: counted,
    percent,
    low,
    high,
  } = scoreOf(noticed.length, noticed.length + open.length)
  const interval = `${low.toFixed(0)}–${high.toFixed(0)} %`
  const late = noticed.filter(({ status }) => status === 'Timeout').length
  const share = `${percent.toFixed(1)} %`
  const cells = [name, all.length, counted, equivalent, noticed.length, late, share]
  return `| ${[...cells, interval].join(' | ')} |`
}

/** What was changed, by the code itself: line numbers move. */
function changeOf({ fileName, location: { start, end }, replacement = '' }: Mutant) {
  const lines = readFileSync(fileName, 'utf8')
    .split('\n')
    .slice(start.line - 1, end.line)
  const last = lines.length - 1
  const from = lines
    .map((line, index) => (index === last ? line.slice(0, end.column - 1) : line))
    .map((line, index) => (index === 0 ? line.slice(start.column - 1) : line))
    .join('\n')
  return { file: basename(fileName), from, to: replacement }
}

function describe(mutant: Mutant): string {
  const { from, to } = changeOf(mutant)
  const place = `${relative('.', mutant.fileName)}:${mutant.location.start.line}`
  return `${mutant.status} ${place}\n  - ${from}\n  + ${to}`
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
