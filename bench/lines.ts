/**
 * References to what an agent's context already holds, on recorded sessions: `npm run bench:lines
 * -- [--corpus DIR] [--json] [--only savings|speed]`. Tokens of o200k_base that exact, near and
 * line references save of the raw results, each deducted with its own cost, every one resolved and
 * compared; then the speed of line matching on ordinary and on hostile text. Tables:
 * docs/internals/dedup-lines.md, "Measured".
 */
import { parseArgs } from 'node:util'
import { createTokenCounters } from '../src/core/tokens/counters.ts'
import { loadVocabularies } from '../src/runtime/vocabulary.ts'
import { readSessions } from './lines/recording.ts'
import { measureSavings } from './lines/savings.ts'
import { measureSpeed } from './lines/speed.ts'
import { machine } from './machine.ts'

const { values } = parseArgs({
  options: {
    corpus: { type: 'string', default: process.env['HAVERSACK_CORPUS'] ?? '' },
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
})

const counter = createTokenCounters(
  loadVocabularies({ cacheDir: 'node_modules/.cache/haversack' }),
).get('o200k_base')

const tables = [
  ...(values.corpus === '' || values.only === 'speed'
    ? []
    : measureSavings(readSessions(values.corpus), counter)),
  ...(values.only === 'savings' ? [] : measureSpeed(counter)),
]

if (values.json) console.log(JSON.stringify({ machine: machine(), tables }))
else {
  console.log(machine())
  for (const { title, head, rows } of tables) {
    console.log(`\n### ${title}\n`)
    for (const row of [head, head.map(() => '---'), ...rows]) console.log(`| ${row.join(' | ')} |`)
  }
}
