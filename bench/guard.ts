import { writtenBooks } from './guard/book.ts'
import { decodedCases, playedResults, rewrittenTurns, servicePages } from './guard/groups.ts'
import { readOptions } from './support/options.ts'

/**
 * npm run guard [-- CORPUS --only NAME]
 *
 * Prints one SHA-256 for each thing that a refactoring must not change: every answer over the
 * corpus, every rewritten request of the recorded conversations, the kept cases of the decoders,
 * what the service says of itself, and what it writes down of fixed traffic. Durations and request
 * ids are left out. Run it before and after: equal lines mean equal bytes. Without a corpus the
 * groups that need none are printed.
 */
const { corpus, only } = readOptions({
  corpus: '',
  only: ['decoders', 'service', 'book', 'replay', 'turns'],
})

/** Yields name and SHA-256 of one thing after another. */
type Group = () => AsyncIterable<readonly [name: string, sha256: string]>

const wanted = new Set<string>(only)
const groups: Readonly<Record<string, Group>> = {
  decoders: decodedCases,
  service: servicePages,
  book: writtenBooks,
  ...(corpus === ''
    ? {}
    : { replay: () => playedResults(corpus), turns: () => rewrittenTurns(corpus) }),
}

for (const [group, hashes] of Object.entries(groups)) {
  if (!wanted.has(group)) continue
  for await (const [name, sha256] of hashes()) {
    process.stdout.write(`${sha256}  ${group}/${name}\n`)
  }
}
