/**
 * What inputs cost in processor time per byte, against ordinary JSON of the same size, and a search
 * for slower ones: `npm run bench:slow -- [--chars N] [--rounds N] [--climbs N] [--steps N] [--seed
 * N] [--json] [--write]`. Slow ones that it finds belong into `slow-inputs/known-inputs.ts`.
 */
import { parseArgs } from 'node:util'
import { machine, median } from './machine.ts'
import { markdownTable } from './markdown-table.ts'
import { createCosts, WAYS } from './slow-inputs/cost.ts'
import { type Input, writeInput } from './slow-inputs/grammar.ts'
import { KNOWN_INPUTS } from './slow-inputs/known-inputs.ts'
import { searchSlowInputs } from './slow-inputs/search.ts'
import { writeSection } from './write-section.ts'

const { values } = parseArgs({
  options: {
    chars: { type: 'string', default: '300000' },
    rounds: { type: 'string', default: '3' },
    climbs: { type: 'string', default: '8' },
    steps: { type: 'string', default: '40' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const [chars, rounds] = [Number(values.chars), Number(values.rounds)]
const MAX_RATIO = 3
/** Slowest of the climbs that are shown. */
const SHOWN = 5

const costs = createCosts()
const ordinary = Object.fromEntries(WAYS.map(way => [way, costs.ordinary(way, chars)]))

interface Row {
  readonly input: string
  readonly way: string
  readonly mb_per_s: number
  readonly times_ordinary: number
}

function measure(name: string, input: Input): Row[] {
  const text = writeInput(input, chars)
  return WAYS.map(way => {
    costs.of(way, text)
    const cost = median(Array.from({ length: rounds }, () => costs.of(way, text)))
    return {
      input: name,
      way,
      mb_per_s: Number((1000 / cost).toPrecision(3)),
      times_ordinary: Number((cost / (ordinary[way] ?? 1)).toPrecision(3)),
    }
  })
}

const rows = Object.entries(KNOWN_INPUTS).flatMap(([name, input]) => measure(name, input))
const finds = searchSlowInputs(costs, {
  seed: Number(values.seed),
  climbs: Number(values.climbs),
  steps: Number(values.steps),
  chars,
  ordinary: ordinary['encode'] ?? 1,
}).slice(0, SHOWN)
for (const { input } of finds) rows.push(...measure(JSON.stringify(input), input))

if (values.json) console.log(JSON.stringify({ machine: machine(), chars, rows }))
else {
  const usual = WAYS.map(way => `${way} ${(1000 / (ordinary[way] ?? 1)).toPrecision(3)} MB/s`)
  const cells = rows.map(row => [
    row.input.replaceAll('|', '\\|'),
    row.way,
    String(row.mb_per_s),
    `${row.times_ordinary}${row.times_ordinary > MAX_RATIO ? ' !' : ''}`,
  ])
  const { node, cpu, cores } = machine()
  const report = [
    `Node ${node}, ${cores} cores of ${cpu}; ${chars} characters; ordinary JSON: ${usual.join(', ')}.`,
    markdownTable(['input', 'way', 'MB/s of processor time', '÷ ordinary'], cells),
  ].join('\n\n')
  console.log(report)
  if (values.write) writeSection('slow-inputs', report)
}
