/**
 * Tokens of whole results in each notation: `npm run bench:formats -- [--corpus DIR] [--json]`. For every payload of the
 * corpus that is JSON, in both encodings: pretty and compact JSON, TOON, and what `encode` sends. Every answer is
 * decoded and compared first. Tables: docs/formats.md, "Measured".
 */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { createTokenCounters } from '../src/core/tokens/counters.ts'
import { ENCODINGS, type Encoding } from '../src/core/tokens/vocabulary.ts'
import { loadVocabularies } from '../src/vocabulary.ts'
import { type Contents, measureContent, sumOf } from './formats/contents.ts'
import { measureParity } from './formats/parity.ts'
import { jsonPayloads } from './formats/payloads.ts'

const { values } = parseArgs({
  options: {
    corpus: { type: 'string', default: process.env['HAVERSACK_CORPUS'] ?? '' },
    json: { type: 'boolean', default: false },
  },
})
if (values.corpus === '') throw new Error('--corpus or HAVERSACK_CORPUS is needed')

const counters = createTokenCounters(
  loadVocabularies({ cacheDir: 'node_modules/.cache/haversack' }),
)
const folders = jsonPayloads(values.corpus)

/** One row a file, in the order of their names. */
function filesOf(folder: string, encoding: Encoding): readonly Contents[] {
  return (folders.get(folder) ?? []).map(file =>
    measureContent(basename(file), readFileSync(file, 'utf8'), encoding, counters.get(encoding)),
  )
}

const report = ENCODINGS.map(encoding => ({
  encoding,
  suite: filesOf('toon-suite', encoding),
  folders: [...folders.keys()].map(folder => sumOf(folder, filesOf(folder, encoding))),
  parity: measureParity(folders.get('headroom-parity') ?? [], encoding, counters.get(encoding)),
}))

if (values.json) console.log(JSON.stringify(report))
else {
  for (const { encoding, suite, folders: sums, parity } of report) {
    console.log(`\n### ${encoding}\n`)
    print(suite.concat(sumOf('all eight', suite)))
    print(sums)
    console.log(parity)
  }
}

function print(rows: readonly Contents[]): void {
  console.log(
    '| | files | pretty | compact | TOON | best of other | ours | of compact | of TOON | above compact |',
  )
  console.log('|---|---|---|---|---|---|---|---|---|---|')
  for (const row of rows) {
    const of = (other: number): string => `${((100 * row.ours) / other).toFixed(1)} %`
    const { name, files, pretty, compact, toon, other, ours, above } = row
    console.log(
      `| ${[name, files, pretty, compact, toon, other, ours, of(compact), of(toon), above].join(' | ')} |`,
    )
  }
  console.log()
}
