import { median } from '../src/lab/bill/statistics.ts'
import {
  createCosts,
  type Input,
  KNOWN_INPUTS,
  searchSlowInputs,
  WAYS,
  writeInput,
} from './slow-inputs/cost.ts'
import { machine } from './support/machine.ts'
import { publish, tableOf } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'

/**
 * npm run bench -- slow-inputs [--chars N --rounds N --climbs N --steps N --seed N --write]
 *
 * What inputs cost in processor time per byte, against ordinary JSON of the same size, and a search
 * for slower ones. Slow ones that it finds belong into `KNOWN_INPUTS` of `slow-inputs/cost.ts`.
 */
const options = readOptions({
  chars: 300_000,
  rounds: 3,
  climbs: 8,
  steps: 40,
  seed: 1,
  write: false,
})
const { chars, rounds } = options
const MAX_RATIO = 3
/** Slowest of the climbs that are shown. */
const SHOWN = 5
/** Rows and characters of an input in the printed table. */
const PRINTED = 12
const WIDTH = 60

const costs = createCosts()
const ordinary = Object.fromEntries(WAYS.map(way => [way, costs.ordinary(way, chars)]))

function measure(name: string, input: Input) {
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
  seed: options.seed,
  climbs: options.climbs,
  steps: options.steps,
  chars,
  ordinary: ordinary['encode'] ?? 1,
}).slice(0, SHOWN)
for (const { input } of finds) rows.push(...measure(JSON.stringify(input), input))

const usual = WAYS.map(way => `${way} ${(1000 / (ordinary[way] ?? 1)).toPrecision(3)} MB/s`)
const slowest = rows.toSorted((a, b) => b.times_ordinary - a.times_ordinary).slice(0, PRINTED)
const cells = slowest.map(({ input, way, mb_per_s, times_ordinary }) => ({
  input: input.replaceAll('|', '\\|').slice(0, WIDTH),
  ...{ way, 'MB/s of processor time': String(mb_per_s) },
  '÷ ordinary': `${times_ordinary}${times_ordinary > MAX_RATIO ? ' !' : ''}`,
}))
const { node, cpu, cores } = machine()
const about = `Node ${node}, ${cores} cores of ${cpu}; ${chars} characters; ordinary JSON: ${usual.join(', ')}.`
publish('slow-inputs', [about, tableOf(cells)], options.write)
