import { Tokenizer } from 'ai-tokenizer'
import * as aiCl100k from 'ai-tokenizer/encoding/cl100k_base'
import * as aiO200k from 'ai-tokenizer/encoding/o200k_base'
import * as gptCl100k from 'gpt-tokenizer/encoding/cl100k_base'
import * as gptO200k from 'gpt-tokenizer/encoding/o200k_base'
import { createBpeCounter } from '../../src/core/tokens/bpe-counter.ts'
import type { Encoding } from '../../src/core/tokens/profiles.ts'
import { openVocabulary, type Vocabularies } from '../../src/core/tokens/vocabulary.ts'
import { median } from '../../src/lab/bill/statistics.ts'
import { tiktokenIds } from '../../src/runtime/tiktoken.ts'
import { generatedTexts, HOSTILE } from '../../test/support/generated-text.ts'
import { createXorshift } from '../../test/support/xorshift.ts'
import { recordedResults } from '../support/corpus.ts'

/** Texts for warming up, and others for measuring. */
interface Sources {
  readonly description: string
  readonly warm: readonly string[]
  readonly measured: readonly string[]
}

/**
 * Every second session and folder of payloads of a corpus warms up, the others are measured. Without
 * a corpus: generated texts, different seeds.
 */
export function loadSources(corpus: string): Sources {
  if (corpus === '') {
    return {
      description: 'generated text',
      warm: generatedTexts(1, 600),
      measured: generatedTexts(2, 1500),
    }
  }
  const bySource = Map.groupBy(recordedResults(corpus), ({ source }) => source)
  const half = (odd: number) =>
    [...bySource.values()].flatMap((results, i) =>
      i % 2 === odd ? results.map(({ content }) => content) : [],
    )
  return { description: 'corpus', warm: half(0), measured: half(1) }
}

/** UTF-8 bytes of all texts. */
function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
}

const ROUNDS = 7
/** Characters of the shorter input; the longer has twice as many. */
const CHARS = 500_000

interface HostileRow {
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

/** Parts that the measured texts are cut into; each is timed once for every competitor. */
const PARTS = 15

interface SpeedRow {
  readonly name: string
  /** Median over the parts. */
  readonly mb_per_s: number
  /** Median over the parts of our speed over this one's. */
  readonly ours_is_times_faster: number
  readonly texts_counted_as_tiktoken: string
}

/**
 * Warms every competitor on the same texts, then times each on texts that none has seen, part by
 * part in turn.
 */
export function measureSpeed(
  encoding: Encoding,
  vocabularies: Vocabularies,
  sources: Sources,
): readonly SpeedRow[] {
  const counters = Object.entries(competitors(encoding, vocabularies))
  for (const [, count] of counters) for (const text of sources.warm) count(text)

  const parts = Array.from({ length: PARTS }, (_, part) =>
    sources.measured.filter((_, i) => i % PARTS === part),
  )
  const speeds: number[][] = counters.map(() => [])
  const counts: number[][] = counters.map(() => [])
  parts.forEach((texts, part) => {
    for (let turn = 0; turn < counters.length; turn++) {
      const i = (turn + part) % counters.length
      speeds[i]!.push(speedOf(counters[i]![1], texts, counts[i]))
    }
  })
  const reference = counts[counters.findIndex(([name]) => name === 'tiktoken')]!
  return counters.map(([name], i) => ({
    name,
    mb_per_s: median(speeds[i]!),
    ours_is_times_faster: median(speeds[0]!.map((speed, part) => speed / speeds[i]![part]!)),
    texts_counted_as_tiktoken: `${counts[i]!.filter((count, k) => count === reference[k]).length} of ${reference.length}`,
  }))
}

/** MB/s over some texts; the counts are added to `counts`. */
function speedOf(count: Count, texts: readonly string[], counts: number[] = []): number {
  const started = performance.now()
  for (const text of texts) counts.push(count(text))
  return bytesOf(texts) / 1e3 / (performance.now() - started)
}

type Count = (text: string) => number

/**
 * Ways to count tokens of an encoding; special-token text as ordinary text where that can be asked
 * for.
 */
function competitors(encoding: Encoding, vocabularies: Vocabularies): Record<string, Count> {
  const gpt = encoding === 'o200k_base' ? gptO200k : gptCl100k
  const ordinary = { disallowedSpecial: new Set<string>() }
  const ai = new Tokenizer(encoding === 'o200k_base' ? aiO200k : aiCl100k)
  return {
    haversack: createBpeCounter(openVocabulary(vocabularies[encoding])).count,
    tiktoken: text => tiktokenIds(text, encoding).length,
    'gpt-tokenizer': text => gpt.countTokens(text, ordinary),
    'ai-tokenizer': text => ai.count(text),
  }
}
