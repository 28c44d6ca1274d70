import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { factorsOf, type PlacedSession, placeResults } from '../../src/lab/bill/place-results.ts'
import { countTokens } from '../../src/lab/bill/play.ts'
import { readSessions } from '../support/corpus.ts'
import { type FindResult, readUsage } from './read-usage.ts'
import { simulatedSessions } from './simulate.ts'

/** Sessions of a corpus with their results in the provider's prompts. */
interface Corpus {
  readonly recorded: readonly PlacedSession[]
  /** Those without usage, as a provider would have counted them. */
  readonly simulated: readonly PlacedSession[]
  readonly factors: ReturnType<typeof factorsOf>
}

/** @param sample takes each N-th recorded session */
export function readCorpus(folder: string, sample = 1): Corpus {
  const usage = join(folder, 'bill', 'usage.jsonl')
  const all = existsSync(usage) ? readUsage(readFileSync(usage, 'utf8'), resultsOf(folder)) : []
  const factors = factorsOf(all, countTokens)
  const place = (each: (typeof all)[number]) => placeResults(each, factors, countTokens)
  return {
    recorded: all.filter((_, at) => at % sample === 0).map(place),
    simulated: simulatedSessions(folder, all).map(place),
    factors,
  }
}

/** Finds recorded results; those of one time in their order. */
function resultsOf(folder: string): FindResult {
  const all = [...readSessions(folder).values()].flat()
  const found = Map.groupBy(all, ({ session, ts }) => `${session} ${ts}`)
  return (session, ts) => found.get(`${session} ${ts}`)?.shift() ?? null
}
