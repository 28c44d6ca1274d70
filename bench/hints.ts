/**
 * What hints cost: `npm run bench -- hints CORPUS [--json] [--show FAMILY]`. Tokens of each
 * family in each verbosity and both encodings, over hints made from the recorded sessions of the
 * corpus. Table: bench/README.md, "Hints".
 */
import { type HintFamily, VERBOSITIES } from '../src/core/hints/hint.ts'
import { parseHint, renderHint } from '../src/core/hints/hint-line.ts'
import { createTokenCounters } from '../src/core/tokens/counters.ts'
import { ENCODINGS } from '../src/core/tokens/profiles.ts'
import { loadVocabularies } from '../src/runtime/vocabulary.ts'
import { sampleHints } from './hints/samples.ts'
import { recordedContexts } from './hints/sessions.ts'
import { markdownTable } from './support/markdown-table.ts'
import { REQUIRED, readOptions } from './support/options.ts'

const options = readOptions({ corpus: REQUIRED, json: false, show: '' })

/**
 * Mean tokens that the seed states for its own hints, and what ours may be in the standard
 * verbosity.
 */
const STATED: Readonly<Record<HintFamily, { seed: number | null; target: number | null }>> = {
  reference: { seed: 11, target: 16 },
  near_reference: { seed: 14, target: 30 },
  lines: { seed: null, target: null },
  overflow: { seed: 16, target: 25 },
  format: { seed: 13, target: null },
  metadata: { seed: 14, target: 25 },
  elision: { seed: null, target: 40 },
  search_chain: { seed: null, target: null },
}

const counters = createTokenCounters(
  loadVocabularies({ cacheDir: 'node_modules/.cache/haversack' }),
)
const hints = sampleHints(recordedContexts(options.corpus))
const families = Object.keys(STATED) as HintFamily[]

const rows = families.flatMap(family =>
  VERBOSITIES.map(verbosity => {
    const lines = hints.filter(h => h.family === family).map(h => renderHint(h, verbosity))
    const unread = lines.filter(line => parseHint(line) === null)
    if (unread.length > 0) throw new Error(`not read again: ${unread[0]}`)
    if (family === options.show) process.stderr.write(`${lines.join('\n')}\n`)
    const tokens = ENCODINGS.map(encoding => {
      const counts = lines.map(line => counters.get(encoding).count(line))
      const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length
      return { encoding, mean, min: Math.min(...counts), max: Math.max(...counts) }
    })
    return { family, verbosity, hints: lines.length, tokens, ...STATED[family] }
  }),
)

if (options.json) console.log(JSON.stringify(rows))
else {
  const columns = ENCODINGS.map(encoding => `${encoding} mean (min–max)`)
  const cells = rows.map(({ family, verbosity, hints: count, tokens, seed, target }) => [
    family,
    verbosity,
    count,
    ...tokens.map(({ mean, min, max }) => `${mean.toFixed(1)} (${min}–${max})`),
    seed ?? '–',
    verbosity === 'standard' && target !== null ? `≤ ${target}` : '–',
  ])
  console.log(markdownTable(['family', 'verbosity', 'hints', ...columns, 'seed', 'target'], cells))
}
