import { ENCODINGS } from '../src/core/tokens/profiles.ts'
import { loadVocabularies } from '../src/runtime/vocabulary.ts'
import { machine } from './support/machine.ts'
import { tableOf } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { loadSources, measureHostile, measureSpeed } from './tokens/speed.ts'

/**
 * npm run bench -- tokens [--corpus DIR] [--json]
 *
 * Speed of counting against other tokenizers on texts that none has seen, and hostile inputs; all in
 * one process. Method: `docs/reference/tokens.md`.
 */
const options = readOptions({ corpus: '', json: false })

const vocabularies = loadVocabularies({ cacheDir: 'node_modules/.cache/haversack' })
const sources = loadSources(options.corpus || undefined)

const speed = ENCODINGS.map(encoding => measureSpeed(encoding, vocabularies, sources))
const hostile = ENCODINGS.map(encoding => ({
  encoding,
  rows: measureHostile(encoding, vocabularies, sources),
}))
if (options.json) {
  const { description } = sources
  console.log(JSON.stringify({ machine: machine(), source: description, speed, hostile }))
} else {
  console.log(machine(), `source: ${sources.description}`)
  for (const { rows, ...rest } of speed) console.log(`${tableOf(rows)}\n`, rest)
  for (const { encoding, rows } of hostile) console.log(`${encoding}\n\n${tableOf(rows)}`)
}
