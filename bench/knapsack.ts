/**
 * The knapsack solver: `npm run bench -- knapsack [--highs COUNT] [--json]`. Generated instances by
 * kind and size, what a limit of work leaves, small instances by the thousand; with `--highs`, as
 * many random ones compared with HiGHS. Kinds and formulas: bench/knapsack/instances.ts.
 */

import { solveMckp } from '../src/core/solvers/mckp/mckp.ts'
import { solveWithHighs } from './knapsack/highs.ts'
import { KINDS, type Kind, randomInstances } from './knapsack/instances.ts'
import { measureGaps, measureKind, measureSmall } from './knapsack/measure.ts'
import { machine } from './support/machine.ts'
import { tableOf } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'

const options = readOptions({ highs: 0, json: false })

const COUNT = 15
const kinds = Object.keys(KINDS) as Kind[]
const sizes = [
  { classes: 10_000, range: 1_000 },
  { classes: 10_000, range: 1_000, share: 0.25 },
  { classes: 10_000, range: 10_000 },
  { classes: 1_000, range: 1_000 },
  { classes: 1_000, range: 10_000_000 },
].map(size => ({ ...size, options: 6, required: true }))
/** Where the solver may not finish: costs and values of up to a thousand million. */
const hard = { classes: 10_000, options: 6, range: 1e9, required: true }
const small = { classes: 30, options: 6, range: 1_000, required: true }

const report = {
  machine: machine(),
  kinds: sizes.flatMap(size => kinds.map(kind => measureKind(kind, size, COUNT, 1e8))),
  gaps: (['weakly correlated', 'strongly correlated', 'subset sum'] as const).flatMap(kind =>
    measureGaps(kind, hard, 5, [0, 1e4, 1e5, 1e6, 1e7]),
  ),
  small: kinds.map(kind => measureSmall(kind, small, 500)),
  ...(options.highs === 0 ? {} : { highs: compareWithHighs(options.highs) }),
}

if (options.json) console.log(JSON.stringify(report))
else {
  console.log(report.machine)
  for (const rows of [report.kinds, report.gaps, report.small]) console.log(`\n${tableOf(rows)}`)
  if (report.highs !== undefined) console.log('compared with HiGHS:', report.highs)
}

function compareWithHighs(count: number): { instances: number; equal: number; proven: number } {
  let [equal, proven] = [0, 0]
  for (const problem of randomInstances(count, 2)) {
    const solution = solveMckp(problem, { maxStates: 1e8 })
    if (!solution.feasible) continue
    if (solution.value === solveWithHighs(problem)) equal++
    if (solution.optimal) proven++
  }
  return { instances: count, equal, proven }
}
