import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { median } from '../src/lab/bill/statistics.ts'
import { checkOut, type Figures, HERE, readFigures } from './compare/read-figures.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'

/**
 * npm run bench -- compare COMMIT NAME… [--in-turn N] [options of the benches]
 *
 * Runs benches of an older commit and of these files in turn, N times each, and prints each figure
 * of both with the ratio of new to old: its median over the rounds, the least and the most. The
 * first row of each bench is the processor time of its processes, which other work on the machine
 * changes least. Both use the packages that are installed here.
 */
const USAGE = 'usage: npm run bench -- compare COMMIT NAME… [--in-turn N] [options of the benches]'
const TICK_MS = 10
const PROCESSOR = 'processor time, ms'

interface Plan {
  readonly commit: string
  readonly names: readonly string[]
  readonly rounds: number
  /** For the benches. */
  readonly options: readonly string[]
}

function planOf(args: readonly string[]): Plan | null {
  const at = args.indexOf('--in-turn')
  const rounds = at === -1 ? 5 : Number(args[at + 1])
  const rest = at === -1 ? args : args.toSpliced(at, 2)
  const end = rest.findIndex(each => each.startsWith('-'))
  const [commit, ...names] = end === -1 ? rest : rest.slice(0, end)
  if (commit === undefined || names.length === 0 || !(rounds >= 1)) return null
  return { commit, names, rounds, options: end === -1 ? [] : rest.slice(end) }
}

/** Processor time in milliseconds of processes that ended and that this one started. */
function processorMsOfChildren(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS
}

/** Runs a bench of a folder once. @throws {Error} if it fails */
function run(folder: string, name: string, options: readonly string[]): Figures {
  const before = processorMsOfChildren()
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(folder, 'bench/run.ts'), name, ...options],
    { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 1 << 28 },
  )
  if (status !== 0) throw new Error(`${name} of ${folder} ended with ${status}`)
  return new Map([[PROCESSOR, processorMsOfChildren() - before], ...readFigures(stdout)])
}

type Runs = Readonly<Record<'old' | 'new', Figures[]>>

/** The old files and the new ones in turn, each first in every second round. */
function runInTurn(old: string, name: string, { rounds, options }: Plan): Runs {
  const runs: Runs = { old: [], new: [] }
  for (let round = 0; round < rounds; round++) {
    const sides = [['old', old] as const, ['new', HERE] as const]
    for (const [side, folder] of round % 2 === 0 ? sides : sides.reverse()) {
      runs[side].push(run(folder, name, options))
    }
  }
  return runs
}

function rowsOf(runs: Runs): string[][] {
  const [first] = runs.new
  return [...first!.keys()].flatMap(name => {
    const of = (side: keyof Runs) => runs[side].map(each => each.get(name) ?? Number.NaN)
    const ratios = of('new').map((figure, round) => figure / of('old')[round]!)
    if (!ratios.every(Number.isFinite)) return []
    const figures = [median(of('old')), median(of('new')), median(ratios)]
    return [[name, ...[...figures, Math.min(...ratios), Math.max(...ratios)].map(shown)]]
  })
}

function shown(figure: number): string {
  return Number(figure.toPrecision(4)).toString()
}

const plan = planOf(process.argv.slice(2))
if (plan === null) {
  process.stderr.write(`${USAGE}\n`)
  process.exitCode = 64
} else {
  using old = checkOut(plan.commit)
  for (const name of plan.names) {
    const rows = rowsOf(runInTurn(old.folder, name, plan))
    const header = [name, 'old', 'new', 'new ÷ old', 'least', 'most']
    process.stdout.write(`${markdownTable(header, rows)}\n\n`)
  }
  const conditions = { old: old.commit, rounds: plan.rounds, machine: machine() }
  process.stdout.write(`${JSON.stringify(conditions)}\n`)
}
