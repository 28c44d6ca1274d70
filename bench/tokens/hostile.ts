import { median } from '../../src/bill/statistics.ts'
import { createBpeCounter } from '../../src/core/tokens/bpe-counter.ts'
import type { Encoding } from '../../src/core/tokens/profiles.ts'
import { openVocabulary, type Vocabularies } from '../../src/core/tokens/vocabulary.ts'
import { HOSTILE } from '../support/generated-text.ts'
import { createXorshift } from '../support/random.ts'
import { bytesOf, type Sources } from './sources.ts'

const ROUNDS = 7
/** Characters of the shorter input; the longer has twice as many. */
const CHARS = 500_000

export interface HostileRow {
  readonly input: string
  readonly ns_per_byte: number
  /** Time per byte over that of ordinary text, median of ratios taken in turn. */
  readonly times_ordinary: number
  /** Time for twice the length over time for the length. */
  readonly doubling: number
}

/** Times hostile inputs, each fresh (never seen by the cache), in turn with ordinary text. */
export function measureHostile(
  encoding: Encoding,
  vocabularies: Vocabularies,
  sources: Sources,
): HostileRow[] {
  const counter = createBpeCounter(openVocabulary(vocabularies[encoding]))
  const timed = (texts: readonly string[]): number => {
    const started = performance.now()
    for (const text of texts) counter.count(text)
    return ((performance.now() - started) * 1e6) / bytesOf(texts)
  }
  for (let i = 0; i < 2; i++) timed(sources.warm)
  timed(sources.measured)
  let seed = 7
  return Object.entries(HOSTILE).map(([input, make]) => {
    const fresh = (chars: number): string[] => [make(chars, createXorshift(++seed))]
    timed(fresh(CHARS))
    const rounds = Array.from({ length: ROUNDS }, (_, round) => {
      const usual = timed(sources.measured.filter((_, i) => i % ROUNDS === round))
      const short = timed(fresh(CHARS))
      const long = timed(fresh(CHARS * 2))
      return { long, ratio: long / usual, doubling: (2 * long) / short }
    })
    return {
      input,
      ns_per_byte: median(rounds.map(({ long }) => long)),
      times_ordinary: median(rounds.map(({ ratio }) => ratio)),
      doubling: median(rounds.map(({ doubling }) => doubling)),
    }
  })
}
