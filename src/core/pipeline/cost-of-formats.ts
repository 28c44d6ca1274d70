import { createTokenCounters } from '../tokens/counters.ts'
import { ENCODINGS, type Encoding } from '../tokens/profiles.ts'
import { encodeContent } from './encode-content.ts'
import { DEFAULT_PIPELINE } from './profile/pipeline-config.ts'

/** Counts by bytes: it needs no vocabulary, so a configuration is read without one. */
const TOKENIZER = 'heuristic'
const MAX_DEPTH = 100
const MAX_CHARS = 1_000_000
const LINES = 40

/**
 * What a list of formats costs: how much longer results get with it than with all formats, as a
 * share, over a built-in sample of usual tool results.
 * @param formats names of formats without their version
 */
export function costOfFormats(formats: readonly string[]): number {
  const counter = createTokenCounters(noVocabularies()).get(TOKENIZER)
  const counters = { get: () => counter }
  const size = (formats_enabled: readonly string[]): number => {
    const mckp = { ...DEFAULT_PIPELINE.mckp, formats_enabled: [...formats_enabled] }
    const pipeline = { ...DEFAULT_PIPELINE, mckp }
    const context = { counters, pipeline, keepsOriginals: false }
    return sample().reduce((sum, content) => {
      const request = { content, tokenizer: TOKENIZER, mode: 'lossless' } as const
      const terms = { ...context, maxDepth: MAX_DEPTH, maxDecodedChars: MAX_CHARS }
      return sum + encodeContent(request, terms).answer.tokens.final
    }, 0)
  }
  return size(formats) / size(DEFAULT_PIPELINE.mckp.formats_enabled) - 1
}

function noVocabularies(): Record<Encoding, SharedArrayBuffer> {
  const entries = ENCODINGS.map(id => [id, new SharedArrayBuffer(0)] as const)
  return Object.fromEntries(entries) as Record<Encoding, SharedArrayBuffer>
}

const NAMES = ['amber', 'brisk', 'calm', 'dry', 'early', 'fresh', 'grand']
const STATES = ['open', 'closed', 'merged']

/** A list of records, a nested answer, a read file, matches of a search, a log and a table. */
function sample(): readonly string[] {
  const at = Array.from({ length: LINES }, (_, number) => number)
  const name = (number: number) => NAMES[(number * 5) % NAMES.length] as string
  const state = (number: number) => STATES[(number * 7) % STATES.length] as string
  const records = at.map(id => ({ id, title: `${name(id)} item`, state: state(id), size: id * 37 }))
  const nested = { total: LINES, pages: { next: 2, size: LINES }, labels: NAMES, items: records }
  const code = at.map(id => `  const ${name(id)}${id} = load('${state(id)}', ${id})`)
  return [
    JSON.stringify(records),
    JSON.stringify(nested, null, 2),
    code.map((line, id) => `${String(id + 1).padStart(6)}\t${line}`).join('\n'),
    code.map((line, id) => `src/parts/${name(0)}/module.ts:${id * 3 + 1}:${line}`).join('\n'),
    at.map(id => `2026-01-01T10:00:${10 + id} INFO ${name(id)} is ${state(id)}`).join('\n'),
    ['| id | name | state |', '|---|---|---|']
      .concat(at.map(id => `| ${id} | ${name(id)} | ${state(id)} |`))
      .join('\n'),
  ]
}
