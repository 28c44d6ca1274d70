/**
 * The tree knapsack: `npm run bench -- trim [--count COUNT] [--highs COUNT] [--write] [--json]`.
 * Generated trees by family and size, a plain dynamic program on the same trees in turn, and what
 * each heuristic keeps of the optimum; with `--highs`, as many small trees compared with HiGHS.
 */

import { loadavg } from 'node:os'
import { trimTree } from '../src/core/solvers/tree/trim-tree.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { mean, median } from './support/statistics.ts'
import { writeSection } from './support/write-section.ts'
import { FAMILIES, type Family, makeTree } from './trim/families.ts'
import { type ExactRow, measureExact, measureShares, type ShareRow } from './trim/measure.ts'

const options = readOptions({ count: 15, highs: 0, write: false, json: false })

const BUDGET = 8_000
const count = options.count
const few = Math.max(1, Math.floor(count / 5))
const families = Object.keys(FAMILIES) as Family[]
/** The plain program takes seconds at the largest size, which leaves few trees for it. */
const SIZES = [
  { nodes: 1_000, count, withNaive: true },
  { nodes: 10_000, count, withNaive: true },
  { nodes: 100_000, count: few, withNaive: false },
]
/**
 * Budgets for sizes, so that the smaller trees do not fit either: about a tenth of what they cost.
 */
const SHARES = [
  { nodes: 100, budget: 100 },
  { nodes: 1_000, budget: 1_000 },
  { nodes: 10_000, budget: BUDGET },
  { nodes: 100_000, budget: BUDGET },
]

// Compiled first.
for (const family of families) measureExact(family, 2_000, 2_000, { count: 3, withNaive: true })

const exact = SIZES.flatMap(({ nodes, ...each }) =>
  families.map(family => measureExact(family, nodes, BUDGET, each)),
)
const shares = SHARES.flatMap(({ nodes, budget }) =>
  families.flatMap(family => measureShares(family, nodes, budget, few)),
)
const highs = options.highs === 0 ? null : await compareWithHighs(options.highs)

if (options.json) {
  console.log(JSON.stringify({ machine: machine(), exact, shares, highs }))
} else {
  const report = [
    `${Object.values(machine()).join(', ')}; budget ${BUDGET.toLocaleString('en-US')}; N = ${count} trees a family (${few} at 100,000 nodes), each solved once; milliseconds, with a load of ${rounded(loadavg()[0]!)} on the machine. Plain: a dynamic program over all nodes and budgets, on each tree in turn, for the value alone.`,
    exactTable(),
    `What the heuristics keep of the best (of the bound where that is not proven), over all families with ${few} trees each: mean, and the least of a family's means. Budgets of a tenth of what the trees cost, at most ${BUDGET.toLocaleString('en-US')}.`,
    sharesTable(),
    ...(highs === null ? [] : [`The same value as HiGHS: ${highs.equal} of ${highs.trees} trees.`]),
  ].join('\n\n')
  if (options.write) writeSection('trim', report)
  else console.log(report)
}

function exactTable(): string {
  const rows = exact.map((row: ExactRow) => [
    row.family,
    row.nodes,
    rounded(row.medianMs),
    rounded(row.p95Ms),
    row.naiveMs === null ? '–' : rounded(row.naiveMs),
    `${row.proven}/${row.count}`,
    row.largestGap.toExponential(0),
    row.medianWork,
  ])
  const header = ['family', 'nodes', 'exact', 'p95', 'plain', 'proven', 'largest gap', 'work']
  return markdownTable(header, rows)
}

function sharesTable(): string {
  const rows = SHARES.flatMap(({ nodes, budget }) =>
    (['greedy', 'fair', 'head_tail'] as const).map(algorithm => {
      const own = shares.filter(row => row.nodes === nodes && row.algorithm === algorithm)
      const means = own.map((row: ShareRow) => mean(row.shares))
      const least = own[means.indexOf(Math.min(...means))]!
      return [
        nodes,
        budget,
        algorithm,
        percent(mean(means)),
        percent(Math.min(...means)),
        least.family,
        rounded(median(own.map(({ medianMs }) => medianMs))),
      ]
    }),
  )
  const header = ['nodes', 'budget', 'algorithm', 'mean', 'least', 'of', 'ms']
  return markdownTable(header, rows)
}

async function compareWithHighs(trees: number): Promise<{ trees: number; equal: number }> {
  // Only where it is asked for: loading it takes a while.
  const { solveTreeWithHighs } = await import('./trim/highs.ts')
  let equal = 0
  for (let i = 0; i < trees; i++) {
    const tree = makeTree(families[i % families.length]!, 10 + ((7 * i) % 60), i)
    const budget = 20 + ((13 * i) % 200)
    const choice = trimTree(tree, budget)
    if ('minimum' in choice) throw new Error('it fits')
    const value = solveTreeWithHighs(tree, budget)!
    if (choice.optimal && Math.abs(choice.value - value) <= 1e-6 * value) equal++
  }
  return { trees, equal }
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}

function rounded(ms: number): number {
  return Number(ms.toPrecision(3))
}
