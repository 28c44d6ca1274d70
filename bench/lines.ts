/**
 * References to what an agent's context already holds, on recorded sessions: `npm run bench -- lines
 * [--corpus DIR] [--json] [--only savings|speed]`. Tokens of o200k_base that exact, near and
 * line references save of the raw results, each deducted with its own cost, every one resolved and
 * compared; then the speed of line matching on ordinary and on hostile text.
 */

import { createTokenCounters } from '../src/core/tokens/counters.ts'
import { loadVocabularies } from '../src/runtime/vocabulary.ts'
import { readSessions } from './lines/recording.ts'
import { measureSavings } from './lines/savings.ts'
import { measureSpeed } from './lines/speed.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'

const options = readOptions({ corpus: '', json: false, only: ['savings', 'speed'] })

const counter = createTokenCounters(
  loadVocabularies({ cacheDir: 'node_modules/.cache/haversack' }),
).get('o200k_base')

const tables = [
  ...(options.corpus === '' || !options.only.includes('savings')
    ? []
    : measureSavings(readSessions(options.corpus), counter)),
  ...(options.only.includes('speed') ? measureSpeed(counter) : []),
]

if (options.json) console.log(JSON.stringify({ machine: machine(), tables }))
else {
  console.log(machine())
  for (const { title, head, rows } of tables) {
    console.log(`\n### ${title}\n\n${markdownTable(head, rows)}`)
  }
}
