/**
 * The whole encode job: `npm run bench -- encode [--corpus DIR] [--json]`. Parse, classify,
 * candidates, exact counts, decode check; one thread, warm. MB are of JSON input. Generated results
 * from 10 kB to 10 MB, then the corpus.
 */

import { readFileSync } from 'node:fs'
import { encode } from '../src/index.ts'
import { jsonPayloads } from './formats/payloads.ts'
import { generatedResults } from './formats/results.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { median } from './support/statistics.ts'

const options = readOptions({ corpus: '', json: false })

/** Characters that each kind and size is measured on at least, lest one pause decides. */
const LEAST_CHARS = 20_000_000
const ROUNDS = 5
const SIZES = [10_000, 100_000, 1_000_000, 10_000_000]

interface Row {
  readonly what: string
  readonly chars: number
  readonly format: string
  readonly mb_per_s: number
}

/** Median over rounds of the rate at which these texts are encoded. */
function measure(what: string, texts: readonly string[]): Row {
  const chars = texts.reduce((sum, text) => sum + text.length, 0)
  const repeats = Math.max(1, Math.round(LEAST_CHARS / ROUNDS / chars))
  let format = ''
  const rates = Array.from({ length: ROUNDS }, () => {
    const started = performance.now()
    for (let i = 0; i < repeats; i++) {
      for (const content of texts) format = encode({ content }).format
    }
    return (chars * repeats) / 1e3 / (performance.now() - started)
  })
  return { what, chars, format, mb_per_s: Number(median(rates).toPrecision(3)) }
}

const rows: Row[] = []
for (const kind of generatedResults) {
  for (const size of SIZES) rows.push(measure(kind.name, [kind.make(size)]))
}
if (options.corpus !== '') {
  for (const [folder, files] of jsonPayloads(options.corpus)) {
    rows.push(
      measure(
        folder,
        files.map(file => readFileSync(file, 'utf8')),
      ),
    )
  }
}

if (options.json) console.log(JSON.stringify({ machine: machine(), rows }))
else {
  console.log(machine())
  console.log(
    markdownTable(
      ['input', 'characters', 'format', 'MB/s'],
      rows.map(row => [row.what, row.chars, row.format, row.mb_per_s]),
    ),
  )
}
