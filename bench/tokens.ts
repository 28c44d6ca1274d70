import { ENCODINGS } from '../src/core/tokens/profiles.ts'
import { loadVocabularies } from '../src/runtime/vocabulary.ts'
import { machine } from './support/machine.ts'
import { tableOf } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { loadSources, measureHostile, measureSpeed } from './tokens/speed.ts'

/**
 * npm run bench -- tokens [--corpus DIR]
 *
 * Speed of counting against other tokenizers on texts that none has seen, and hostile inputs; all in
 * one process. Method: `docs/reference/tokens.md`.
 */
const options = readOptions({ corpus: '' })

const vocabularies = loadVocabularies({ cacheDir: 'node_modules/.cache/haversack' })
const sources = loadSources(options.corpus)

console.log(machine(), `source: ${sources.description}`)
for (const encoding of ENCODINGS) {
  const speed = tableOf(measureSpeed(encoding, vocabularies, sources))
  const hostile = tableOf(measureHostile(encoding, vocabularies, sources))
  console.log(`${encoding}\n\n${speed}\n\n${hostile}`)
}
