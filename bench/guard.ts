import { parseArgs } from 'node:util'
import { decodedCases } from './guard/decoded-cases.ts'
import { playedResults } from './guard/played-results.ts'
import { rewrittenTurns } from './guard/rewritten-turns.ts'
import { servicePages } from './guard/service-pages.ts'

/**
 * npm run guard [-- CORPUS] [--only NAME]
 *
 * Prints one SHA-256 for each thing that a refactoring must not change: every answer over the
 * corpus, every rewritten request of the recorded conversations, the kept cases of the decoders,
 * and what the service says of itself. Durations and request ids are left out. Run it before and
 * after: equal lines mean equal bytes. Without a corpus only the last two groups are printed.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', default: '' } },
})
const corpus = positionals[0] ?? process.env['HAVERSACK_CORPUS']

/** Yields name and SHA-256 of one thing after another. */
type Group = () => AsyncIterable<readonly [name: string, sha256: string]>

const groups: Readonly<Record<string, Group>> = {
  decoders: decodedCases,
  service: servicePages,
  ...(corpus === undefined
    ? {}
    : { replay: () => playedResults(corpus), turns: () => rewrittenTurns(corpus) }),
}

for (const [group, hashes] of Object.entries(groups)) {
  if (values.only !== '' && values.only !== group) continue
  for await (const [name, sha256] of hashes()) {
    process.stdout.write(`${sha256}  ${group}/${name}\n`)
  }
}
